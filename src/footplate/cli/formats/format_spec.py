"""A parsed ``--format``, and how its paths are read in a resource."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    Resource = Mapping[str, JsonValue]


class AllItems(Enum):
    """``[]`` in a path: each item of the list."""

    ITEMS = "[]"


Path: TypeAlias = "tuple[str | int | AllItems, ...]"
"""Names of fields, indices of lists, and ITEMS; empty: the resource itself."""


@dataclass(frozen=True)
class Argument:
    """Of a transform; ``name`` is empty where its place says which one it is."""

    text: str
    name: str = ""


@dataclass(frozen=True)
class Call:
    """A transform that a projection asks for."""

    name: str
    arguments: tuple[Argument, ...] = ()


@dataclass(frozen=True)
class Column:
    """A key of a projection. ``label`` None: the heading is made of the path."""

    path: Path
    calls: tuple[Call, ...] = ()
    label: str | None = None
    sort: int = 0
    """Which sort key it is, counted from 1; 0: none."""
    descending: bool = False


@dataclass(frozen=True)
class Layout:
    """``columns`` None: there is no projection. Attributes are texts, switches True."""

    kind: str
    attributes: Mapping[str, str | bool] = field(default_factory=dict)
    columns: tuple[Column, ...] | None = None
    flatten: tuple[Path, ...] = ()
    """Lists of which each item makes a resource of its own."""

    @property
    def is_plain_table(self) -> bool:
        """Whether nothing but a table was asked for: a command may print what it likes."""
        return self == TABLE

    @property
    def takes_rows(self) -> bool:
        """Whether the columns are those of the command."""
        return self.kind in {"table", "csv"} and self.columns is None

    def without_flatten(self) -> Layout:
        return replace(self, flatten=())

    def text(self, name: str, default: str) -> str:
        """An attribute that is a text; backslash n and t are the characters they stand for."""
        value = self.attributes.get(name)
        text = value if isinstance(value, str) else default
        return text.replace("\\n", "\n").replace("\\t", "\t")

    def has(self, name: str) -> bool:
        """Whether a switch is on."""
        return name in self.attributes


TABLE = Layout("table")
YAML = Layout("yaml")


_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_LOW = re.compile(r"_([a-z0-9])")


def snake_case(name: str) -> str:
    """``job_id`` of ``jobId``."""
    return _WORD_BOUNDARY.sub("_", name).lower()


def read(value: JsonValue | Resource, path: Path) -> JsonValue:
    """None where there is nothing. A field of a list is that of each item: gcloud's way."""
    for place, part in enumerate(path):
        if isinstance(value, list) and (part is AllItems.ITEMS or isinstance(part, str)):
            rest = path[place + 1 :] if part is AllItems.ITEMS else path[place:]
            if isinstance(part, str) and part.isdecimal():
                value = _step(value, int(part))
                continue
            return _of_each(value, rest)
        value = _step(value, part)
        if value is None:
            return None
    return value  # type: ignore[return-value]  # a Mapping with an empty path only


def _of_each(items: list[JsonValue], rest: Path) -> list[JsonValue] | None:
    found = [read(item, rest) for item in items]
    return [value for value in found if value is not None] or None


def _step(value: JsonValue | Resource, part: str | int | AllItems) -> JsonValue:
    if isinstance(value, list) and isinstance(part, int):
        return value[part] if -len(value) <= part < len(value) else None
    if not isinstance(value, str | int | float | list | None) and isinstance(part, str):
        return value[known] if (known := known_name(value, part)) is not None else None
    return None


def known_name(value: Resource, name: str) -> str | None:
    """The key that ``name`` spells, in camelCase or snake_case; None: there is none."""
    camel = _LOW.sub(lambda found: found[1].upper(), name)
    return next((key for key in (name, camel, snake_case(name)) if key in value), None)


def pruned(value: JsonValue | Resource, paths: list[Path]) -> JsonValue:
    """``value`` with nothing but what lies on ``paths``; None: nothing does."""
    if any(not path for path in paths):
        return value  # type: ignore[return-value]  # resources are JSON values
    if isinstance(value, list):
        items = [pruned(item, _below_item(index, paths)) for index, item in enumerate(value)]
        return [item for item in items if item is not None] or None
    if isinstance(value, str | int | float | None):
        return None
    found: dict[str, JsonValue] = {}
    for name, child in value.items():
        below = [p[1:] for p in paths if isinstance(p[0], str) and known_name(value, p[0]) == name]
        if below and (kept := pruned(child, below)) is not None:
            found[name] = kept
    return found or None


def _below_item(index: int, paths: list[Path]) -> list[Path]:
    """Of an item of a list: a path may name it, all of them, or leave that out."""
    below: list[Path] = []
    for path in paths:
        if path[0] is AllItems.ITEMS or path[0] in (index, str(index)):
            below.append(path[1:])
        elif isinstance(path[0], str) and not path[0].isdecimal():
            below.append(path)
    return below
