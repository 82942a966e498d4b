"""The rule for which records a filter selects, for models, and to test the stores. Pure."""

from __future__ import annotations

import operator
from datetime import datetime
from typing import TYPE_CHECKING, Protocol, assert_never

from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.job_states import State

if TYPE_CHECKING:
    from collections.abc import Callable

Value = str | State | datetime


class Filtered(Protocol):
    """A record that filters select."""

    @property
    def state(self) -> State | None: ...

    @property
    def id(self) -> str: ...

    @property
    def display_name(self) -> str: ...

    @property
    def region(self) -> str | None: ...

    @property
    def author(self) -> str | None: ...

    @property
    def labels(self) -> tuple[tuple[str, str], ...]: ...

    @property
    def create_time(self) -> datetime: ...

    @property
    def start_time(self) -> datetime | None: ...

    @property
    def end_time(self) -> datetime | None: ...


_ORDER: dict[Comparator, Callable[[str | datetime, str | datetime], bool]] = {
    Comparator.LESS: operator.lt,
    Comparator.LESS_OR_EQUAL: operator.le,
    Comparator.GREATER: operator.gt,
    Comparator.GREATER_OR_EQUAL: operator.ge,
}


def matches(where: Filter, record: Filtered) -> bool:
    match where:
        case And():
            return all(matches(part, record) for part in where.parts)
        case Or():
            return any(matches(part, record) for part in where.parts)
        case Not():
            return not matches(where.part, record)
        case Comparison(comparator=Comparator.NOT_EQUAL):
            return _actual(where, record) != where.value
        case Comparison():
            actual = _actual(where, record)
            return actual is not None and _compare(actual, where.comparator, where.value)
        case _:
            assert_never(where)


def _actual(comparison: Comparison, record: Filtered) -> Value | None:
    match comparison.field:
        case Field.STATE:
            return record.state
        case Field.DISPLAY_NAME:
            return record.display_name
        case Field.JOB_ID:
            return record.id
        case Field.REGION:
            return record.region
        case Field.AUTHOR:
            return record.author or None
        case Field.CREATE_TIME:
            return record.create_time
        case Field.START_TIME:
            return record.start_time
        case Field.END_TIME:
            return record.end_time
        case Field.LABEL:
            return dict(record.labels).get(comparison.label or "")
        case _:
            assert_never(comparison.field)


def _compare(actual: Value, comparator: Comparator, value: Value) -> bool:
    if comparator is Comparator.EQUAL:
        return actual == value
    if comparator is Comparator.MATCHES:
        return _resembles(str(actual), str(value))
    if isinstance(actual, State) or isinstance(value, State):
        return False
    return _ORDER[comparator](actual, value)


def _resembles(text: str, pattern: str) -> bool:
    """``*`` stands for anything; each part is taken where it is first found, so none is tried
    twice.
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
