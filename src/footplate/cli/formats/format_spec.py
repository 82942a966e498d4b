"""A parsed ``--format``."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping


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
