"""What a browser sees at the root."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    import httpx

HTML = {"Accept": "text/html,application/xhtml+xml;q=0.9"}


def test_a_browser_gets_a_page_with_the_version_the_address_and_the_commands(
    http: httpx.Client, url: str
) -> None:
    answer = http.get("/", headers=HTML)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["content-security-policy"].startswith("sandbox; default-src 'none';")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "<h1>Footplate 1.2.3</h1>" in answer.text
    assert f"export FOOTPLATE_URL={url}<" in answer.text
    for command in ("footplate status", "footplate run -- ", "footplate env"):
        assert command in answer.text


@pytest.mark.parametrize("accept", ["*/*", "application/json"])
def test_other_callers_get_404(http: httpx.Client, accept: str) -> None:
    answer = http.get("/", headers={"Accept": accept})
    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "nothing is served at /"
    assert answer.headers["vary"] == "Accept"


def test_nobody_gets_the_page_without_the_token(guarded: httpx.Client) -> None:
    assert guarded.get("/", headers=HTML).status_code == 403
