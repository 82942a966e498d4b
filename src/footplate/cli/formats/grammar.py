"""The grammar of ``--format``: the part of gcloud's that people use.

format     = [kind] ["[" attribute {"," attribute} "]"] ["(" column {"," column} ")"]
attribute  = name ["=" value]
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
from typing import TYPE_CHECKING, NoReturn

from footplate.cli.formats.format_spec import AllItems, Argument, Call, Column, Layout, Path
from footplate.cli.formats.transforms import TRANSFORMS
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

KINDS = ("table", "json", "yaml", "csv", "value")
_ATTRIBUTES = {
    "table": ("box", "no-heading", "title"),
    "csv": ("no-heading", "separator", "delimiter"),
    "value": ("separator", "delimiter"),
}
_TEXTS = frozenset({"title", "separator", "delimiter"})
"""Attributes that have a value."""
_COLUMN_ATTRIBUTES = ("label", "sort", "reverse")

_WORD = re.compile(r"[A-Za-z_][\w-]*")
_FIELD = re.compile(r"[^\s.,:()\[\]\"'=]+")
_INDEX = re.compile(r"-?\d+|\*")
_VALUE = re.compile(r"[^,:()\[\]]+")
_BARE = re.compile(r"[^,()]+")
_SHOWN = 30
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPED_QUOTE = re.compile(r"\\([\"'\\])")
_SPACE = re.compile(r"\s*")


class Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def ended(self) -> bool:
        self.skip_space()
        return self.at >= len(self.text)

    def skip_space(self) -> None:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at

    def take(self, literal: str) -> bool:
        """Whether it comes next, past any space; then it is read."""
        self.skip_space()
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def require(self, literal: str) -> None:
        if not self.take(literal):
            self.refuse(f"{literal!r} is missing")

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """What matches ``pattern`` here, past any space, read; None: nothing does."""
        self.skip_space()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def quoted(self) -> str | None:
        """A text in quotes, without them; None: none begins here. Raises InvalidArgument."""
        self.skip_space()
        found = _QUOTED.match(self.text, self.at)
        if found is None:
            if self.text[self.at : self.at + 1] in {'"', "'"}:
                self.refuse("a quote isn't closed")
            return None
        self.at = found.end()
        return _ESCAPED_QUOTE.sub(r"\1", found[1] if found[1] is not None else found[2])

    def refuse(self, problem: str, at: int | None = None) -> NoReturn:
        """Raise InvalidArgument that names the place: here, unless ``at`` says another."""
        place = self.at if at is None else at
        near = self.text[place : place + _SHOWN]
        where = f"at character {place + 1}, near {near!r}" if near else "at its end"
        raise InvalidArgument(f"{problem} {where}")


def _unsupported(scanner: Scanner, given: str, known: Iterable[str], start: int) -> NoReturn:
    """Raise InvalidArgument: says what there is, and who has the rest."""
    there = ", ".join(known) or "none"
    scanner.refuse(
        f"{given} is not supported; supported: {there}; the real gcloud has the rest;", start
    )


def read_format(text: str) -> Layout:
    """Raises InvalidArgument: names the place, what is wrong there, and what is known."""
    scanner = Scanner(text)
    kind = _kind(scanner)
    attributes = dict(_attributes(scanner, kind)) if scanner.take("[") else {}
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
    kind = scanner.match(_WORD) or ""
    if kind not in KINDS:
        _unsupported(scanner, f"the format {kind!r}", KINDS, start)
    return kind


def _attributes(scanner: Scanner, kind: str) -> Iterator[tuple[str, str | bool]]:
    """Up to the closing bracket."""
    known = _ATTRIBUTES.get(kind, ())
    while not scanner.take("]"):
        scanner.skip_space()
        start = scanner.at
        name = scanner.match(_WORD)
        if name is None:
            scanner.refuse("an attribute, or ']', is missing")
        if name not in known:
            _unsupported(scanner, f"the attribute {name!r} of {kind}", known, start)
        if name in _TEXTS:
            scanner.require("=")
            yield name, _value(scanner)
        else:
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
    start = scanner.at
    name = scanner.match(_WORD)
    if name is None:
        scanner.refuse("an attribute such as label=NAME is missing")
    value = _value(scanner) if scanner.take("=") else None
    match name:
        case "label":
            if value is None:
                scanner.refuse("label requires a value: label=NAME", start)
            return replace(column, label=value)
        case "sort":
            if value is None or not value.isdecimal():
                scanner.refuse(f"sort={value!r} given; allowed: a number, from 1;", start)
            return replace(column, sort=int(value))
        case "reverse":
            return replace(column, descending=True)
    _unsupported(scanner, f"the attribute {name!r} of a field", _COLUMN_ATTRIBUTES, start)


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
        known = [f"{transform}()" for transform in TRANSFORMS]
        _unsupported(scanner, f"the transform {name}()", known, start)
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
