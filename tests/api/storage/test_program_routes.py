"""The storage API at the addresses of programs: what it gives, and what it keeps to itself."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest


@pytest.fixture
def program(program_url: str, server: str) -> Iterator[httpx.Client]:
    httpx.post(f"{server}/upload/storage/v1/b/stage/o?uploadType=media&name=a", content=b"bytes")
    with httpx.Client(base_url=program_url, timeout=60) as client:
        yield client


def test_links_lead_back_by_the_same_address(program: httpx.Client, program_url: str) -> None:
    found = program.get("/storage/v1/b/stage/o/a").json()
    assert found["selfLink"] == f"{program_url}/storage/v1/b/stage/o/a"
    assert httpx.get(found["mediaLink"]).content == b"bytes"

    begun = program.post("/upload/storage/v1/b/stage/o?uploadType=resumable&name=b", json={})
    assert begun.headers["location"].startswith(f"{program_url}/upload/storage/v1/b/stage/o?")
    assert httpx.put(begun.headers["location"], content=b"more").status_code == 200
    assert program.get("/storage/v1/b/stage/o/b", params={"alt": "media"}).content == b"more"


@pytest.mark.parametrize("key", ["", "WRONG", "KEYS", "key", "%00"])
def test_another_address_leads_nowhere(server: str, key: str) -> None:
    with httpx.Client() as client:
        for path in ("storage/v1/b", "storage/v1/b/stage/o/a?alt=media", "v1/jobs", ""):
            assert client.get(f"{server}/programs/{key}/{path}").status_code in (403, 404)
        assert client.post(f"{server}/programs/{key}/storage/v1/b", json={}).status_code == 403


def test_there_is_nothing_else_behind_it(program: httpx.Client) -> None:
    for path in ("", "/", "/healthz", "/programs/KEY/storage/v1/b", "//storage/v1/b"):
        assert program.get(path).status_code == 404


@pytest.mark.parametrize(
    "path", ["/download/storage/v1/b/stage/o/a", "/programs/KEY/download/storage/v1/b/stage/o/a"]
)
def test_a_batch_downloads_nothing(program: httpx.Client, path: str) -> None:
    body = f"--x\r\nContent-Type: application/http\r\n\r\nGET {path} HTTP/1.1\r\n\r\n\r\n--x--\r\n"
    headers = {"Content-Type": "multipart/mixed; boundary=x"}
    answer = program.post("/batch/storage/v1", content=body, headers=headers)
    assert answer.status_code == 400
    assert "can't download" in answer.text
