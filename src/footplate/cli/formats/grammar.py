"""The grammar of gcloud's ``--format``.

format     = [kind] ["[" attribute {"," attribute} "]"] ["(" column {"," column} ")"]
attribute  = ["no-"] name ["=" value]
column     = key {":" name ["=" value]}
key        = call | [path] {"." call}
path       = name {"." name | "[" [index] "]"}
call       = name "(" [argument {"," argument}] ")"
argument   = [name "="] value

Source: ``gcloud topic formats`` and ``gcloud topic projections``.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.cli.formats.format_spec import AllItems, Argument, Call, Column, Layout, Path
from footplate.cli.formats.scanner import Scanner
from footplate.cli.formats.transforms import TRANSFORMS
from footplate.domain.formatting import nearest

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = ("json", "yaml", "table", "value", "csv", "list", "flattened", "none")
_ALIASES = {"get": "value", "text": "flattened", "default": "yaml", "disable": "none"}
_SIDES = ("left", "right", "center")

_WORD = re.compile(r"[A-Za-z_][\w-]*")
_FIELD = re.compile(r"[^\s.,:()\[\]\"'=]+")
_INDEX = re.compile(r"-?\d+|\*")
_VALUE = re.compile(r"[^,:()\[\]]+")
_BARE = re.compile(r"[^,()]+")


def read_format(text: str) -> Layout:
    """Raises InvalidArgument: names the place, what is wrong there, and what is known."""
    scanner = Scanner(text)
    kind = _kind(scanner)
    attributes = dict(_attributes(scanner)) if scanner.take("[") else {}
    columns = _columns(scanner) if scanner.take("(") else None
    if not scanner.ended:
        scanner.refuse("unexpected text")
    if kind == "value" and not columns:
        scanner.refuse("value requires fields, such as value(name,state)")
    return Layout(kind, attributes, columns or None)


def read_path(text: str) -> Path:
    """A path alone, such as ``trainingInput.args[0]``. Raises InvalidArgument."""
    scanner = Scanner(text)
    path, calls = _key(scanner)
    if calls or not scanner.ended:
        scanner.refuse("allowed: the path of a field, without transforms;", 0)
    return path


def _kind(scanner: Scanner) -> str:
    if scanner.text.lstrip()[:1] in {"[", "("}:
        return "table"
    start = scanner.at
    given = scanner.match(_WORD) or ""
    kind = _ALIASES.get(given, given)
    if kind not in KINDS:
        known = ", ".join((*KINDS, *_ALIASES))
        scanner.refuse(f"{given!r} is no format; there are {known};", start)
    return kind


def _attributes(scanner: Scanner) -> Iterator[tuple[str, str | bool]]:
    """Up to the closing bracket."""
    while not scanner.take("]"):
        name = scanner.match(_WORD)
        if name is None:
            scanner.refuse("an attribute, or ']', is missing")
        if scanner.take("="):
            yield name, _value(scanner)
        else:
            yield name.removeprefix("no-"), not name.startswith("no-")
            if name.startswith("no-"):
                yield name, True
        if not scanner.take(","):
            scanner.require("]")
            return


def _columns(scanner: Scanner) -> tuple[Column, ...]:
    """Up to the closing parenthesis."""
    found: list[Column] = []
    while not scanner.take(")"):
        found.append(_column(scanner))
        if not scanner.take(","):
            scanner.require(")")
            break
    return tuple(found)


def _column(scanner: Scanner) -> Column:
    path, calls = _key(scanner)
    column = Column(path, calls)
    while scanner.take(":"):
        column = _with_attribute(column, scanner)
    return column


def _with_attribute(column: Column, scanner: Scanner) -> Column:
    """Those that gcloud has and that change nothing here (wrap, zone, ...) are taken and left."""
    start = scanner.at
    name = scanner.match(_WORD)
    if name is None:
        scanner.refuse("an attribute such as label=NAME is missing")
    value = _value(scanner) if scanner.take("=") else ""
    if name == "label" and not scanner.text[start:].startswith("label="):
        scanner.refuse("label requires a value: label=NAME", start)
    if name == "align" and value not in _SIDES:
        scanner.refuse(f"align={value!r} given; allowed: {', '.join(_SIDES)};", start)
    if name == "sort" and not value.isdecimal():
        scanner.refuse(f"sort={value!r} given; allowed: a number, from 1;", start)
    match name:
        case "label":
            return replace(column, label=value)
        case "align":
            return replace(column, align=value)
        case "sort":
            return replace(column, sort=int(value))
        case "reverse":
            return replace(column, descending=True)
    return column


def _key(scanner: Scanner) -> tuple[Path, tuple[Call, ...]]:
    """A path and the transforms behind it, of which either may be missing."""
    path: list[str | int | AllItems] = []
    calls: list[Call] = []
    while True:
        start = scanner.at
        name = scanner.quoted()
        if name is None and (name := scanner.match(_FIELD)) and scanner.take("("):
            calls.append(_call(scanner, name, start))
        elif name is None and not scanner.text.startswith("[", scanner.at):
            scanner.refuse("the name of a field is missing")
        elif calls:
            scanner.refuse("a field can't follow a transform;", start)
        else:
            path += [] if name is None else [name]
            path += _indices(scanner)
        if not scanner.take("."):
            return tuple(path), tuple(calls)


def _indices(scanner: Scanner) -> Iterator[int | AllItems]:
    while scanner.take("["):
        index = scanner.match(_INDEX)
        yield AllItems.ITEMS if index in (None, "*") else int(index)
        scanner.require("]")


def _call(scanner: Scanner, name: str, start: int) -> Call:
    if name not in TRANSFORMS:
        scanner.skip_space()
        hint = nearest(name, list(TRANSFORMS), "transforms")
        scanner.refuse(f"there is no transform {name}(); {hint}", start)
    arguments: list[Argument] = []
    while not scanner.take(")"):
        arguments.append(_argument(scanner))
        if not scanner.take(","):
            scanner.require(")")
            break
    return Call(name, tuple(arguments))


def _argument(scanner: Scanner) -> Argument:
    start = scanner.at
    name = scanner.match(_WORD)
    if name is not None and scanner.take("="):
        return Argument(_value(scanner), name)
    scanner.at = start
    text = scanner.quoted()
    if text is None and (text := scanner.match(_BARE)) is None:
        scanner.refuse("an argument, or ')', is missing")
    return Argument(text.strip() if scanner.text[scanner.at - 1] not in "\"'" else text)


def _value(scanner: Scanner) -> str:
    text = scanner.quoted()
    if text is None and (text := scanner.match(_VALUE)) is None:
        scanner.refuse("a value is missing")
    return text
