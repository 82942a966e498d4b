"""Finds places where one small change breaks a Python source, and makes that change.

The change is an exact edit of the text at the position of a node of the syntax tree. Left out is
what can't change what the program does: annotations, imports for types, log calls, ``__all__``,
numbers in f-strings (which have no position) and in durations (tests wait for no second more).
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

_WRONG = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
    ast.Is: ("is", "is not"),
    ast.IsNot: (r"is\s+not", "is"),
    ast.In: ("in", "not in"),
    ast.NotIn: (r"not\s+in", "in"),
    ast.And: ("and", "or"),
    ast.Or: ("or", "and"),
}
"""How each operator is written, as a regular expression, and what stands there instead."""

_LOGGERS = ("logger", "_logger", "log", "_log", "logging", "warnings", "print")
_DURATION = re.compile(r".+_(s|ms|us|seconds|hours|days)", re.IGNORECASE)


class Mutant(NamedTuple):
    """One change: ``new`` instead of the bytes from ``start`` to ``end`` of the file ``path``."""

    path: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        old = " ".join(self.old.split())
        return f"{self.path}:{self.line}: {old} -> {self.new or '(nothing)'}"

    def apply(self, source: bytes) -> bytes:
        return source[: self.start] + self.new.encode() + source[self.end :]

    def diff(self, source: bytes) -> tuple[str, str]:
        """The line before and after; of a change of several lines, their first."""
        before, after = (
            text.splitlines()[self.line - 1].decode().strip()
            for text in (source, self.apply(source))
        )
        return before, after


def find_mutants(path: str, source: bytes) -> list[Mutant]:
    """All changes of one file, in the order of their places."""
    finder = _Finder(path, source)
    finder.visit(ast.parse(source))
    return sorted(finder.found, key=lambda mutant: (mutant.start, mutant.end))


class _Finder(ast.NodeVisitor):
    def __init__(self, path: str, source: bytes) -> None:
        self.found: list[Mutant] = []
        self._path = path
        self._source = source
        self._lines = [0]
        for line in source.splitlines(keepends=True):
            self._lines.append(self._lines[-1] + len(line))

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Before Python 3.12 what is in it has no position."""

    def visit_arg(self, node: ast.arg) -> None:
        """Nothing but an annotation."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None and not _is_duration(node.target):
            self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        ignored = any(_name(each) == "__all__" or _is_duration(each) for each in node.targets)
        if not ignored:
            self.visit(node.value)

    def visit_keyword(self, node: ast.keyword) -> None:
        if _DURATION.fullmatch(node.arg or "") is None:
            self.visit(node.value)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        for each in (*node.decorator_list, node.args, *node.body):
            self.visit(each)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815 - the name is ast's

    def visit_If(self, node: ast.If) -> None:
        if _name(node.test) == "TYPE_CHECKING" or ast.unparse(node.test).startswith("__name__"):
            return
        self._visit_condition(node)

    def _visit_condition(self, node: ast.If | ast.While | ast.IfExp) -> None:
        self._negate(node.test)
        self.generic_visit(node)

    visit_While = visit_IfExp = _visit_condition  # noqa: N815 - the names are ast's

    def visit_comprehension(self, node: ast.comprehension) -> None:
        for each in node.ifs:
            self._negate(each)
        self.generic_visit(node)

    def _negate(self, test: ast.expr) -> None:
        """Others have an operator that is exchanged."""
        if isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Subscript | ast.NamedExpr):
            text = self._text(test)
            self._add(self._start(test), self._end(test), f"(not ({text}))")

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        if isinstance(node.op, ast.Not):
            start = self._start(node)
            self._add(start, start + len("not"), "")
        self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        operands = (node.left, *node.comparators)
        for left, operator, right in zip(operands, node.ops, operands[1:], strict=False):
            self._exchange(left, operator, right)
        self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> None:
        for left, right in zip(node.values, node.values[1:], strict=False):
            self._exchange(left, node.op, right)
        self.generic_visit(node)

    def _exchange(self, left: ast.expr, operator: ast.cmpop | ast.boolop, right: ast.expr) -> None:
        between = self._source[self._end(left) : self._start(right)].decode()
        written, wrong = _WRONG[type(operator)]
        place = re.search(rf"(?<![\w<>=!]){written}(?![\w<>=])", between)
        if place is not None and "#" not in between:
            start = self._end(left) + len(between[: place.start()].encode())
            self._add(start, start + len(place[0].encode()), wrong)

    def visit_Expr(self, node: ast.Expr) -> None:
        call = node.value.value if isinstance(node.value, ast.Await) else node.value
        if isinstance(call, ast.Call):
            if _name(call.func).partition(".")[0] in _LOGGERS or "._log" in _name(call.func):
                return
            self._add(self._start(node), self._end(node), "pass")
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if type(node.value) is int:
            self._add(self._start(node), self._end(node), str(node.value + 1))

    def _add(self, start: int, end: int, new: str) -> None:
        line = self._source[:start].count(b"\n") + 1
        old = self._source[start:end].decode()
        self.found.append(Mutant(self._path, line, start, end, old, new))

    def _start(self, node: ast.stmt | ast.expr) -> int:
        return self._lines[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.stmt | ast.expr) -> int:
        assert node.end_lineno is not None  # noqa: S101 - for types: the parser gives both
        assert node.end_col_offset is not None  # noqa: S101
        return self._lines[node.end_lineno - 1] + node.end_col_offset

    def _text(self, node: ast.expr) -> str:
        return self._source[self._start(node) : self._end(node)].decode()


def _name(node: ast.expr) -> str:
    return ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""


def _is_duration(target: ast.expr) -> bool:
    return _DURATION.fullmatch(_name(target)) is not None
