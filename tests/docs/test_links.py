"""Every link of every page leads somewhere: to a file that is there, and a heading in it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.shares import count_shares

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *sorted(ROOT.glob("*.md")),
    *(
        page
        for folder in ("docs", "examples", "benchmarks")
        for page in ROOT.glob(f"{folder}/**/*.md")
    ),
]
CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = re.compile(r"https?://")


def links(page: Path) -> Iterator[tuple[Path, str]]:
    """The file that each link of it names, and the heading; links to other sites not."""
    for target in LINK.findall(CODE.sub("``", page.read_text("utf-8"))):
        if not ELSEWHERE.match(target):
            path, _, anchor = target.partition("#")
            yield (Path(os.path.normpath(page.parent / path)) if path else page), anchor


@cache
def anchors(page: Path) -> frozenset[str]:
    """As GitHub makes them of headings: a second one of the same words gets a number."""
    text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
    made: list[str] = []
    for heading in re.findall(r"^#+ (.+)$", text, re.MULTILINE):
        shown = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", shown.strip().lower()).replace(" ", "-")
        made.append(f"{slug}-{made.count(slug)}" if slug in made else slug)
    return frozenset(made)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    missing = [str(file) for file, _ in links(page) if not file.exists()]
    assert missing == []
    nowhere = [
        f"{file.relative_to(ROOT)}#{anchor}"
        for file, anchor in links(page)
        if anchor and anchor not in anchors(file)
    ]
    assert nowhere == []


def test_every_page_is_in_the_index() -> None:
    """Decisions are in their folder, by number."""
    index = DOCS / "README.md"
    linked = {file for file, _ in links(index)}
    pages = {page for page in DOCS.rglob("*.md") if page.parent.name != "decisions"}
    assert pages - linked - {index} == set()


def test_anchors_are_githubs() -> None:
    assert "where-its-numbers-are-from" not in anchors(DOCS / "reference" / "catalogue.md")
    assert "where-the-facts-are-from" in anchors(DOCS / "reference" / "catalogue.md")
    assert "tf_config" in anchors(DOCS / "reference" / "environment.md")


def test_decisions_have_numbers_of_their_own() -> None:
    pages = sorted((DOCS / "decisions").glob("[0-9]*.md"))
    assert len({page.name[:4] for page in pages}) == len(pages)
    for page in pages:
        assert page.read_text("utf-8").startswith(f"# {int(page.name[:4])}. "), page


def test_pages_name_the_number_of_shares_of_the_long_tests() -> None:
    word = ("one", "two", "three", "four", "five", "six")[count_shares() - 1]
    texts = (" ".join(page.read_text().split()) for page in DOCS.rglob("*.md"))
    named = [each for text in texts for each in re.findall(r"commit runs one of (\w+)", text)]
    assert named
    assert set(named) == {word}
