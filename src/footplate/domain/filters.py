"""Filters: an expression over comparisons of a record's fields, and how it is evaluated."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Any, Generic, TypeAlias, TypeVar

from footplate.domain.job_states import State

L = TypeVar("L", covariant=True)
"""The leaves of an expression: the conditions on one field."""


class Comparator(Enum):
    EQUAL = "="
    NOT_EQUAL = "!="
    """True wherever EQUAL is false: also for a job without the label or the time."""
    LESS = "<"
    LESS_OR_EQUAL = "<="
    GREATER = ">"
    GREATER_OR_EQUAL = ">="
    MATCHES = ":"
    """Text: the value with ``*`` as wildcard, else contained in it, whatever the case.
    LABEL with value ``*``: the label is there."""


EXACT = (Comparator.EQUAL, Comparator.NOT_EQUAL)
TEXT = (*EXACT, Comparator.MATCHES)
ORDERED = tuple(each for each in Comparator if each is not Comparator.MATCHES)
"""The comparators that fields of a kind allow."""

OPERATORS: Mapping[Comparator, Callable[[Any, Any], Any]] = {
    Comparator.EQUAL: operator.eq,
    Comparator.NOT_EQUAL: operator.ne,
    Comparator.LESS: operator.lt,
    Comparator.LESS_OR_EQUAL: operator.le,
    Comparator.GREATER: operator.gt,
    Comparator.GREATER_OR_EQUAL: operator.ge,
}
"""Any: both sides are of one type, or the left one is a column of SQL."""


@dataclass(frozen=True)
class And(Generic[L]):
    parts: tuple[Expression[L], ...]


@dataclass(frozen=True)
class Or(Generic[L]):
    parts: tuple[Expression[L], ...]


@dataclass(frozen=True)
class Not(Generic[L]):
    part: Expression[L]


Expression: TypeAlias = L | And[L] | Or[L] | Not[L]


class Field(Enum):
    """A field of a job that lists can be filtered by; LABEL needs the label's key."""

    STATE = "state"
    DISPLAY_NAME = "display_name"
    JOB_ID = "job_id"
    CREATE_TIME = "create_time"
    START_TIME = "start_time"
    END_TIME = "end_time"
    REGION = "region"
    AUTHOR = "author"
    LABEL = "labels"


@dataclass(frozen=True)
class Comparison:
    field: Field
    comparator: Comparator
    value: str | State | datetime
    label: str | None = None


Filter: TypeAlias = Expression[Comparison]


def evaluator(holds: Callable[[L], bool]) -> Callable[[Expression[L]], bool]:
    """Returns a function that evaluates expressions by ``holds``, which evaluates conditions."""

    def matches(where: Expression[L]) -> bool:
        match where:
            case And():
                return all(map(matches, where.parts))
            case Or():
                return any(map(matches, where.parts))
            case Not():
                return not matches(where.part)
            case _:
                return holds(where)

    return matches


def leaves(where: Expression[L]) -> Iterator[L]:
    """Yields the conditions of an expression, from left to right."""
    match where:
        case And() | Or():
            for part in where.parts:
                yield from leaves(part)
        case Not():
            yield from leaves(where.part)
        case _:
            yield where


def conjuncts(where: Expression[L] | None) -> tuple[Expression[L], ...]:
    """Returns the parts that all have to be true; None has none."""
    if where is None:
        return ()
    return where.parts if isinstance(where, And) else (where,)


def selects(where: Filter, read: Callable[[Comparison], object]) -> bool:
    """Returns whether a record matches; ``read`` returns its values, None where it has none."""

    def holds(asked: Comparison) -> bool:
        return compare(read(asked), asked.comparator, asked.value)

    return evaluator(holds)(where)


def compare(found: object, comparator: Comparator, value: object) -> bool:
    """Compares two values. If nothing is found, or another type, only NOT_EQUAL is true."""
    if not _same_type(found, value):
        return comparator is Comparator.NOT_EQUAL
    if comparator is Comparator.MATCHES:
        return _resembles(str(found), str(value))
    return bool(OPERATORS[comparator](found, value))


def _same_type(found: object, value: object) -> bool:
    if isinstance(value, bool) or isinstance(found, bool):
        return isinstance(value, bool) and isinstance(found, bool)
    return isinstance(found, int | float if isinstance(value, float) else type(value))


def _resembles(text: str, pattern: str) -> bool:
    """Returns whether a text contains a pattern, in which ``*`` stands for any characters.

    Each part of the pattern is matched at its first occurrence, so the search never backtracks.
    """
    text, pattern = text.casefold(), pattern.casefold()
    if "*" not in pattern:
        return pattern in text
    first, *between, last = pattern.split("*")
    if not text.startswith(first):
        return False
    place = len(first)
    for part in between:
        found = text.find(part, place)
        if found < 0:
            return False
        place = found + len(part)
    return text.endswith(last) and len(text) - len(last) >= place
