"""The lines of the documentation that install something name what there is."""

from __future__ import annotations

import re
import shlex
import tomllib

import pytest
from packaging.requirements import Requirement

from tests.support import ROOT

PAGES = (ROOT / "README.md", ROOT / "reduction" / "README.md", *(ROOT / "docs").rglob("*.md"))
LINE = re.compile(r"\bpip install ([^`\n;]*)")
WHEEL = "WHEEL"
"""Stands for the file of a release, which the page explains."""
EXTRAS = frozenset(
    tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
)


def installed() -> list[tuple[str, str]]:
    """The page and the word of each thing that pip installs; no options and no stand-ins."""
    found = []
    for page in PAGES:
        for rest in LINE.findall(page.read_text("utf-8")):
            if rest.count("'") % 2 == 0:
                words = shlex.split(rest, comments=True)
                found += [(str(page.relative_to(ROOT)), word) for word in words if stands(word)]
    return found


def stands(word: str) -> bool:
    return not word.startswith(("-", "/")) and (word == WHEEL or not word.isupper())


def is_path(word: str) -> bool:
    return word == "." or word.startswith("./") or (ROOT / word / "pyproject.toml").is_file()


@pytest.mark.parametrize(("page", "word"), installed())
def test_there_is_what_a_line_installs(page: str, word: str) -> None:
    """Footplate itself is in no index: it comes as a file, or an extra joins it."""
    from_file = re.sub(rf"^{WHEEL}(?=\[|$)", "footplate", word)
    if is_path(word):
        assert (ROOT / word / "pyproject.toml").is_file()
        return
    requirement = Requirement(from_file)
    if requirement.name == "footplate":
        assert requirement.extras <= EXTRAS
        assert from_file != word or (requirement.extras and not requirement.url)


def test_a_page_says_what_its_placeholder_is() -> None:
    pages = [page for page in PAGES if re.search(rf"\b{WHEEL}\b", page.read_text("utf-8"))]
    unexplained = [page.name for page in pages if f"`{WHEEL}` is" not in page.read_text("utf-8")]
    assert len(pages) > 5
    assert unexplained == []
