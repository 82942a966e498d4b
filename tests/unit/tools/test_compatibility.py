"""What is read from a run of another project's client, and what the page says of it."""

from __future__ import annotations

import pytest

from tools import compatibility
from tools.compatibility import Client, Row, find_faults, write_page

CLIENT = Client(
    "a", "A client", "1.0", "2026-11-20", "its examples", not_served={"serve": "it serves a model"}
)


def row(*passed: str, **failed: str) -> Row:
    return Row("1.0", "2026-11-21", passed, failed)


@pytest.mark.parametrize(
    ("seen", "faults"),
    [
        (row("train", serve="501"), []),
        (row("train", serve="501", tune="404"), ["tune: 404"]),
        (row("train", "serve"), ["serve: not_served names it, but it passed"]),
        (row("train"), ["serve: not_served names it, but it is not run"]),
        (row(serve="501"), ["no example passed"]),
    ],
)
def test_a_run_shows_what_its_description_says_or_a_fault(seen: Row, faults: list[str]) -> None:
    assert find_faults(CLIENT, seen) == faults


def test_the_page_has_a_row_for_each_client_and_the_reasons(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(compatibility, "read_client", lambda name: CLIENT)

    page = write_page({"a": row("train", serve="501")})

    assert "| A client | 1.0 | its examples | ours | 1 of 2 | 2026-11-21 |" in page
    assert "## A client\n\n| not served | why |\n|---|---|\n| serve | it serves a model |" in page
