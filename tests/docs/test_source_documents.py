"""The page that follows Google's documents names tests that exist, for each line or a reason."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reference" / "source-documents.md"
COLUMNS = ["promise", "tests", "what departs, and why"]
TEST = re.compile(r"`((?:reduction/)?tests/[\w/.-]+\.py)((?:::\w+)+)`")
REASON_LENGTH = 12
"""A reason is a sentence, and not a dash."""


class Line(NamedTuple):
    number: int
    promise: str
    tests: str
    reason: str


def lines() -> list[Line]:
    """All rows of the tables; each table has the same three columns."""
    found = []
    for number, text in enumerate(PAGE.read_text("utf-8").splitlines(), 1):
        if text.startswith("|") and not text.startswith("|---"):
            cells = [cell.strip() for cell in text.strip().strip("|").split("|")]
            assert len(cells) == len(COLUMNS), f"line {number} has {len(cells)} cells"
            if cells != COLUMNS:
                found.append(Line(number, *cells))
    return found


@cache
def names_in(file: Path) -> frozenset[str]:
    """The tests of a module, as ``::test_it`` or ``::TestThing::test_it``."""
    return frozenset(_names(ast.parse(file.read_text("utf-8")).body, ""))


def _names(body: list[ast.stmt], before: str) -> list[str]:
    found = []
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(f"{before}::{node.name}")
        elif isinstance(node, ast.ClassDef):
            found += _names(node.body, f"{before}::{node.name}")
    return [name for name in found if name.rpartition("::")[2].startswith("test")]


def exists(path: str, name: str) -> bool:
    file = ROOT / path
    return file.is_file() and name in names_in(file)


@pytest.mark.parametrize("line", lines(), ids=lambda line: f"line-{line.number}")
def test_a_promise_has_a_test_that_exists_or_a_reason(line: Line) -> None:
    named = TEST.findall(line.tests)
    missing = [f"{path}{name}" for path, name in named if not exists(path, name)]

    assert missing == []
    assert line.promise
    assert TEST.sub("", line.tests).strip(" ,") == "", "only test ids, each in backticks"
    assert named or len(line.reason) >= REASON_LENGTH


def test_the_page_covers_all_five_documents() -> None:
    headings = re.findall(r"^## (.+)$", PAGE.read_text("utf-8"), re.MULTILINE)

    assert headings == [
        "AI Platform Training: overview",
        "AI Platform Training: GPUs",
        "AI Platform Training: hyperparameter tuning",
        "Vertex AI: distributed training",
        "Vertex AI: custom containers",
    ]


def test_a_test_that_does_not_exist_is_noticed() -> None:
    own = "tests/docs/test_source_documents.py"

    assert exists(own, "::test_a_test_that_does_not_exist_is_noticed")
    assert not exists(own, "::test_of_nothing")
    assert not exists(own, "::lines")
    assert not exists("tests/docs/test_of_nothing.py", "::test_of_nothing")
