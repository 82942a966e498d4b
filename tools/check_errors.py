"""Finds handlers that take any ``OSError`` for an answer, as "it isn't there".

Too many open files, a failing disk or a refusal say nothing of what was asked. So what catches
``OSError`` as a whole must do one of these:

- raise it again, or look at its ``errno``;
- report it: give it to a call or put it into a message;
- say in a comment at the handler why any error means the same there.

Where only absence is meant, catch ``FileNotFoundError`` and ``NotADirectoryError``.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "reduction/src")
BROAD = frozenset({"OSError", "IOError", "EnvironmentError", "Exception", "BaseException"})


def find_faults(source: str) -> Iterator[int]:
    """The lines of the handlers that say nothing."""
    comments = _comments(source)
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ExceptHandler):
            lines = range(node.lineno, (node.body[-1].end_lineno or node.lineno) + 1)
            if _is_broad(node.type) and not (_answers(node) or comments & {*lines}):
                yield node.lineno
        elif isinstance(node, ast.With):
            lines = range(node.lineno, node.body[0].lineno + 1)
            if any(_suppresses(each.context_expr) for each in node.items) and not (
                comments & {*lines}
            ):
                yield node.lineno


def _comments(source: str) -> set[int]:
    """The lines with a comment for readers."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return {
        each.start[0]
        for each in tokens
        if each.type == tokenize.COMMENT and not _is_for_tools(each.string)
    }


def _is_for_tools(comment: str) -> bool:
    words = comment.removeprefix("#").split()
    return not words or words[0].startswith(("noqa", "type:", "pragma"))


def _is_broad(caught: ast.expr | None) -> bool:
    if isinstance(caught, ast.Tuple):
        return any(_is_broad(each) for each in caught.elts)
    return caught is None or (isinstance(caught, ast.Name) and caught.id in BROAD)


def _suppresses(call: ast.expr) -> bool:
    if not isinstance(call, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name == "suppress" and any(_is_broad(each) for each in call.args)


def _answers(handler: ast.ExceptHandler) -> bool:
    """Whether it raises the error again, looks at its number, or reports it."""
    for node in (each for statement in handler.body for each in ast.walk(statement)):
        if isinstance(node, ast.Raise) and node.exc is None:
            return True
        if isinstance(node, ast.Call) and _logs(node):
            return True
        if _is_error(node, handler.name) and not _is_cause(node, handler):
            return True
    return False


def _logs(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    return name in ("exception", "print_exc") or any(k.arg == "exc_info" for k in call.keywords)


def _is_error(node: ast.AST, name: str | None) -> bool:
    return isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)


def _is_cause(name: ast.AST, handler: ast.ExceptHandler) -> bool:
    """Whether it only stands in ``raise ... from error`` or ``isinstance(error, ...)``."""
    for node in ast.walk(handler):
        if isinstance(node, ast.Raise) and node.cause is name:
            return True
        asked = isinstance(node, ast.Call) and getattr(node.func, "id", "") == "isinstance"
        if asked and name in ast.walk(node):
            return True
    return False


def main() -> int:
    found = [
        f"{path.relative_to(ROOT)}:{line}: say what any OSError means here, or catch less"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line in find_faults(path.read_text())
    ]
    sys.stdout.write("".join(f"{each}\n" for each in found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
