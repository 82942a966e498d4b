"""Reads a TOML table field by field, collecting errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches
from typing import TypeGuard

from footplate.catalogue.document import Document, shown
from footplate.catalogue.toml_lines import Path

MAX_VCPUS = 100_000
MAX_COUNT = 100_000
MAX_AMOUNT = 10_000_000
"""Of memory in GB, or bandwidth in Gbps."""


class Table:
    """A table, of which each field is read once; ``close`` reports fields that were not read.

    A wrong or missing field is a fault of the document, and is read as a harmless value, so that it
    causes no further faults.
    """

    def __init__(self, document: Document, path: Path, value: object) -> None:
        self.document = document
        self.path = path
        self._asked: set[str] = set()
        self._usable = isinstance(value, dict)
        self._values: dict[str, object] = value if isinstance(value, dict) else {}
        if not self._usable:
            self.fault("", f"{shown(value)} given; allowed: a table")

    def __contains__(self, key: str) -> bool:
        return key in self._values

    def fault(self, key: str, description: str) -> None:
        self.document.fault((*self.path, key) if key else self.path, description)

    def ask(self, *keys: str) -> None:
        """Marks keys that are read elsewhere as known."""
        self._asked.update(keys)

    def whole(self, key: str, high: int = MAX_COUNT) -> int:
        """Reads a whole number from 1; required."""
        value = self._required(key)
        if _is_whole(value, high):
            return value
        if value is not None:
            self.fault(key, f"{shown(value)} given; allowed: a whole number from 1 to {high}")
        return 1

    def amount(self, key: str) -> float:
        """Reads a number above 0; required."""
        value = self._required(key)
        return 1.0 if value is None else self._amount(key, value)

    def amount_or_none(self, key: str) -> float | None:
        value = self._take(key)
        return None if value is None else self._amount(key, value)

    def whole_or_none(self, key: str, high: int = MAX_COUNT) -> int | None:
        self.ask(key)
        return self.whole(key, high) if key in self._values else None

    def text(self, key: str, allowed: Iterable[str] | None = None, default: str = "") -> str:
        """Reads a text, one of ``allowed`` if given; required unless there is a default."""
        value = self._take(key) if default else self._required(key)
        if value is None:
            return default
        choices = list(allowed) if allowed is not None else None
        if isinstance(value, str) and (choices is None or value in choices):
            return value
        words = ", ".join(choices) if choices is not None else "a text"
        self.fault(key, f"{shown(value)} given; allowed: {words}")
        return default

    def flag(self, key: str) -> bool:
        """Reads a Boolean; False if it isn't given."""
        value = self._take(key)
        if value is None or isinstance(value, bool):
            return bool(value)
        self.fault(key, f"{shown(value)} given; allowed: true, false")
        return False

    def texts(self, key: str, *, required: bool = False) -> tuple[str, ...]:
        """Reads a list of texts, which must be distinct."""
        found: list[str] = []
        for index, value in enumerate(self._list(key, required=required)):
            if value in found:
                self._fault_in(key, index, f"{shown(value)} given twice; allowed: once")
            if isinstance(value, str):
                found.append(value)
            else:
                self._fault_in(key, index, f"{shown(value)} given; allowed: a text")
        return tuple(found)

    def increasing(self, key: str, high: int = MAX_COUNT) -> tuple[int, ...]:
        """Reads increasing whole numbers from 1, at least one; required."""
        allowed = f"a list of whole numbers from 1 to {high} in increasing order"
        value = self._required(key)
        if value is None:
            return ()
        if isinstance(value, list) and value and all(_is_whole(v, high) for v in value):
            counts: list[int] = value
            if counts == sorted(set(counts)):
                return tuple(counts)
        self.fault(key, f"{shown(value)} given; allowed: {allowed}, such as [1, 2, 4]")
        return ()

    def table(self, key: str) -> Table:
        """Returns the table at the key; an empty one if there is none."""
        value = self._take(key)
        return Table(self.document, (*self.path, key), {} if value is None else value)

    def tables(self, key: str) -> Iterator[Table]:
        """Yields the tables of the list at the key."""
        for index, value in enumerate(self._list(key)):
            yield Table(self.document, (*self.path, key, index), value)

    def entries(self, name: re.Pattern[str], form: str) -> Iterator[tuple[str, Table]]:
        """Yields every other field as a table; ``form`` describes names that match the pattern."""
        for key in self.names(name, form):
            yield key, self.table(key)

    def names(self, name: re.Pattern[str], form: str) -> Iterator[str]:
        """Yields the name of every unread field, if it matches; others are faults."""
        for key in self._values:
            if key in self._asked:
                continue
            self._asked.add(key)
            if name.fullmatch(key):
                yield key
            else:
                self.fault(key, f"{shown(key)} given as a name; allowed: {form}")

    def close(self) -> None:
        for key in self._values:
            if key not in self._asked:
                self.fault(key, f"unknown key; {_nearest(key, sorted(self._asked))}")

    def _take(self, key: str) -> object:
        self._asked.add(key)
        return self._values.get(key)

    def _required(self, key: str) -> object:
        value = self._take(key)
        if value is None and self._usable:
            self.fault("", f"{key} is missing")
        return value

    def _amount(self, key: str, value: object) -> float:
        if _is_amount(value):
            return float(value)
        allowed = f"a number above 0, up to {MAX_AMOUNT}"
        self.fault(key, f"{shown(value)} given; allowed: {allowed}")
        return 1.0

    def _list(self, key: str, *, required: bool = False) -> list[object]:
        value = self._required(key) if required else self._take(key)
        if value is None or isinstance(value, list):
            return value or []
        self.fault(key, f"{shown(value)} given; allowed: a list")
        return []

    def _fault_in(self, key: str, index: int, description: str) -> None:
        self.document.fault((*self.path, key, index), description)


def _is_whole(value: object, high: int) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= high


def _is_amount(value: object) -> TypeGuard[float]:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    return 0 < value <= MAX_AMOUNT  # which neither inf nor nan is


def _nearest(key: str, known: list[str]) -> str:
    near = get_close_matches(key[:100], known, n=1)
    return f"did you mean {near[0]}?" if near else f"allowed: {', '.join(known)}"
