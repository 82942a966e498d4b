"""Finds the regular expressions of the code base, and how each is used.

Not those that a function makes from its variables: those quote what they insert.
"""

from __future__ import annotations

import ast
import importlib
import re
from collections import defaultdict
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

from tests.support import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

SOURCES = (ROOT / "src", ROOT / "reduction" / "src")
_ANCHORED = ("match", "fullmatch")
_CALL = re.compile(r"\bre\.[a-z]+\(|\bimport .*\bcompile\b")
_METHODS = (*_ANCHORED, "search", "sub", "subn", "split", "findall", "finditer")


@dataclass(frozen=True)
class Use:
    """``method`` is ``search`` for all that look anywhere. ``where`` is MODULE:LINE or :NAME."""

    where: str
    pattern: re.Pattern[Any]
    method: str


def find_uses() -> Iterator[Use]:
    """Each pattern that a module holds, and each that a call of ``re`` has in itself."""
    trees = {_name(path): ast.parse(path.read_text()) for path in _files()}
    methods = {name: _methods(tree) for name, tree in trees.items()}
    for module_name, tree in trees.items():
        module = importlib.import_module(module_name)
        where = module_name
        for name, pattern, owner in _patterns_of(module):
            others = (known.get(name, set()) for known in methods.values())
            known = methods.get(owner, {}).get(name) or set().union(*others) or {"search"}
            for method in sorted(known):
                yield Use(f"{where}:{name}", pattern, method)
        for call in ast.walk(tree):
            if isinstance(call, ast.Call) and (method := _method_of_re(call)):
                for pattern in _given(call, module):
                    yield Use(f"{where}:{call.lineno}", pattern, method)


def _files() -> Iterator[Path]:
    for source in SOURCES:
        for path in sorted(source.rglob("*.py")):
            if _CALL.search(path.read_text()):
                yield path


def _name(path: Path) -> str:
    source = next(each for each in SOURCES if path.is_relative_to(each))
    return ".".join(path.relative_to(source).with_suffix("").parts).removesuffix(".__init__")


def _methods(tree: ast.Module) -> dict[str, set[str]]:
    """How patterns are used, by the names of variables and fields; ``search`` if otherwise."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    called = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
            called.add(id(node.value))
            if node.attr in _METHODS:
                of = node.value.id if isinstance(node.value, ast.Name) else node.value.attr
                found[of].add(node.attr if node.attr in _ANCHORED else "search")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and id(node) not in called:
            found[node.id].add("search")
    return found


def _patterns_of(module: ModuleType) -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """Each with its name, and the module where that is used."""
    for name, value in vars(module).items():
        yield from _inside(name, value, module.__name__)


def _inside(
    name: str, value: object, owner: str, depth: int = 0
) -> Iterator[tuple[str, re.Pattern[Any], str]]:
    """A pattern in an object has the name of the object's field."""
    if isinstance(value, re.Pattern):
        yield name, value, owner
    elif depth < 4 and isinstance(value, dict):
        for each in value.values():
            yield from _inside(name, each, owner, depth + 1)
    elif depth < 4 and isinstance(value, tuple | list | set | frozenset):
        for each in value:
            yield from _inside(name, each, owner, depth + 1)
    elif depth < 4 and is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            inner = getattr(value, field.name)
            yield from _inside(field.name, inner, type(value).__module__, depth + 1)


def _method_of_re(call: ast.Call) -> str:
    of = call.func
    if not isinstance(of, ast.Attribute) or ast.unparse(of.value) != "re":
        return ""
    if of.attr not in _METHODS:
        return ""
    return of.attr if of.attr in _ANCHORED else "search"


def _given(call: ast.Call, module: ModuleType) -> Iterator[re.Pattern[Any]]:
    """The pattern of a call; none if that depends on variables of a function."""
    if call.args:
        try:
            source = eval(ast.unparse(call.args[0]), dict(vars(module)))  # noqa: S307 - our own
        except NameError:
            return
        yield re.compile(source)
