"""Docstrings name exceptions that exist."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src", ROOT / "reduction" / "src")
FOREIGN = {"ClientDisconnect", "HTTPException", "NVMLError", "WebSocketDisconnect"}
"""Exceptions of libraries."""
Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module
_SENTENCE = re.compile(r"\bRaises ((?:[A-Z]\w+(?:, | or | and )?)+)")
_BLOCK = re.compile(r"^( *)Raises:\n((?:\1 +.*\n?)+)", re.MULTILINE)
_ENTRY = re.compile(r"^ *([A-Z]\w+(?:, [A-Z]\w+)*):", re.MULTILINE)


def documented(tree: ast.AST) -> Iterator[Documented]:
    """What can have a docstring in a module, itself first: only statements hold such."""
    if isinstance(tree, Documented):
        yield tree
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case):
            yield from documented(node)


def raised(docstring: str) -> set[str]:
    """The names of exceptions that it says are raised."""
    parts = _SENTENCE.findall(docstring)
    for _, block in _BLOCK.findall(docstring):
        parts += _ENTRY.findall(block)
    return {name for part in parts for name in re.findall(r"[A-Z]\w+", part)}


def test_what_docstrings_say_is_raised_exists() -> None:
    classes, named = set(), set()
    for path in (path for source in SOURCES for path in source.rglob("*.py")):
        for node in documented(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                classes.add(node.name)
            names = raised(ast.get_docstring(node) or "")
            named |= {(name, str(path.relative_to(ROOT))) for name in names}
    assert len(named) > 300
    assert {
        pair for pair in named if pair[0] not in classes | FOREIGN | set(dir(builtins))
    } == set()


def test_sentences_and_blocks_are_read() -> None:
    text = (
        "Do it. Raises Aa, Bb or Cc: why.\n\n"
        "Raises:\n    Dd, Ee: first\n        more\n    Ff: second\n"
    )
    assert raised(text) == {"Aa", "Bb", "Cc", "Dd", "Ee", "Ff"}
