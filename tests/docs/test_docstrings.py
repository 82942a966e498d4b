"""Docstrings name exceptions that exist."""

from __future__ import annotations

import ast
import builtins
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "src", ROOT / "reduction" / "src")
FOREIGN = {"ClientDisconnect", "NVMLError", "WebSocketDisconnect"}
"""Exceptions of libraries."""
_SENTENCE = re.compile(r"\bRaises ((?:[A-Z]\w+(?:, | or | and )?)+)")
_BLOCK = re.compile(r"^( *)Raises:\n((?:\1 +.*\n?)+)", re.MULTILINE)
_ENTRY = re.compile(r"^ *([A-Z]\w+(?:, [A-Z]\w+)*):", re.MULTILINE)


def trees() -> dict[Path, ast.Module]:
    files = (path for source in SOURCES for path in sorted(source.rglob("*.py")))
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in files}


def raised(docstring: str) -> set[str]:
    """The names of exceptions that it says are raised."""
    parts = _SENTENCE.findall(docstring)
    for _, block in _BLOCK.findall(docstring):
        parts += _ENTRY.findall(block)
    return {name for part in parts for name in re.findall(r"[A-Z]\w+", part)}


def test_what_docstrings_say_is_raised_exists() -> None:
    found = trees()
    nodes = [(path, node) for path, tree in found.items() for node in ast.walk(tree)]
    classes = {node.name for _, node in nodes if isinstance(node, ast.ClassDef)}
    documented = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Module)
    named = {
        (name, str(path.relative_to(ROOT)))
        for path, node in nodes
        if isinstance(node, documented)
        for name in raised(ast.get_docstring(node) or "")
    }
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
