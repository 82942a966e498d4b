"""The type, range and default of an argument, and how its text is read."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

Value = str | int | float | bool | tuple[int, ...]


class Values(dict[str, Value]):
    """The values of arguments by name, each with the type of its parameter."""

    def integer(self, name: str, default: int = 0) -> int:
        value = self.get(name, default)
        if not isinstance(value, int):
            raise TypeError(f"{name} is {value!r}")
        return value

    def number(self, name: str) -> float:
        value = self.get(name, 0.0)
        if not isinstance(value, int | float):
            raise TypeError(f"{name} is {value!r}")
        return float(value)

    def text(self, name: str) -> str:
        return str(self.get(name, ""))

    def flag(self, name: str) -> bool:
        return bool(self.get(name, False))

    def units(self, name: str) -> tuple[int, ...]:
        value = self.get(name, ())
        return value if isinstance(value, tuple) else ()


_TRUE = frozenset({"true", "1", "yes"})
_FALSE = frozenset({"false", "0", "no"})
_MAX_SHOWN = 100
_MAX_UNITS = 100_000


class Kind(Enum):
    """The type of an argument; its value is its name in messages."""

    FLAG = "true or false"
    INTEGER = "a whole number"
    NUMBER = "a number"
    TEXT = "a text"
    PATH = "the path of a CSV file"
    UNITS = "whole numbers from 1 with commas between them, such as 64,32"


@dataclass(frozen=True)
class Range:
    """The bounds of a number; an ``open`` bound is not part of the range."""

    low: float = -math.inf
    high: float = math.inf
    low_open: bool = False
    high_open: bool = False

    def contains(self, value: float) -> bool:
        above = value > self.low if self.low_open else value >= self.low
        below = value < self.high if self.high_open else value <= self.high
        return above and below

    def __str__(self) -> str:
        if self.high == math.inf:
            return f"{'above' if self.low_open else 'at least'} {self.low:g}"
        left, right = "(" if self.low_open else "[", ")" if self.high_open else "]"
        return f"in {left}{self.low:g}, {self.high:g}{right}"


ANY = Range()


@dataclass(frozen=True)
class Parameter:
    """An argument of an algorithm; ``default`` is None if it has none."""

    name: str
    kind: Kind
    default: Value | None = None
    range: Range = ANY
    choices: tuple[str, ...] = ()
    required: bool = False
    effect: bool = True
    """False: it is accepted and nothing follows from it here."""

    @property
    def allowed(self) -> str:
        """Describes the allowed values, for messages."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.range != ANY:
            return f"{self.kind.value} {self.range}"
        return self.kind.value

    def read(self, text: str) -> Value:
        """Parses a value. Raises ValueError, which says what is allowed."""
        try:
            value = self._parse(text)
        except (ValueError, OverflowError):
            raise self._refusal(text) from None
        if isinstance(value, int | float) and not self.range.contains(value):
            raise self._refusal(text)
        if self.choices and value not in self.choices:
            raise self._refusal(text)
        return value

    def _parse(self, text: str) -> Value:
        if self.kind is Kind.FLAG:
            return _read_flag(text)
        if self.kind is Kind.INTEGER:
            return _read_integer(text)
        if self.kind is Kind.NUMBER:
            number = float(text)
            if not math.isfinite(number):
                raise ValueError(text)
            return number
        if self.kind is Kind.UNITS:
            return _read_units(text)
        if not text.strip():
            raise ValueError(text)
        return text

    def _refusal(self, text: str) -> ValueError:
        given = text if len(text) <= _MAX_SHOWN else f"{text[:_MAX_SHOWN]}..."
        return ValueError(f"{given!r} given; allowed: {self.allowed}")


def _read_flag(text: str) -> bool:
    if text.lower() in _TRUE:
        return True
    if text.lower() in _FALSE:
        return False
    raise ValueError(text)


def _read_integer(text: str) -> int:
    """Reads an integer, or ``8.0``, which tuning jobs write for a DOUBLE parameter."""
    number = float(text)
    if not number.is_integer():
        raise ValueError(text)
    return int(number)


def _read_units(text: str) -> tuple[int, ...]:
    units = tuple(int(part) for part in text.split(","))
    if not all(1 <= unit <= _MAX_UNITS for unit in units):
        raise ValueError(text)
    return units
