"""Which jobs a filter selects, in plain Python: the oracle for the stores."""

from __future__ import annotations

import operator
from datetime import datetime
from typing import TYPE_CHECKING, assert_never

from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.states import State

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.jobs import Job

Value = str | State | datetime

_ORDER: dict[Comparator, Callable[[str | datetime, str | datetime], bool]] = {
    Comparator.LESS: operator.lt,
    Comparator.LESS_OR_EQUAL: operator.le,
    Comparator.GREATER: operator.gt,
    Comparator.GREATER_OR_EQUAL: operator.ge,
}


def matches(where: Filter, job: Job) -> bool:
    match where:
        case And():
            return all(matches(part, job) for part in where.parts)
        case Or():
            return any(matches(part, job) for part in where.parts)
        case Not():
            return not matches(where.part, job)
        case Comparison(comparator=Comparator.NOT_EQUAL):
            return _actual(where, job) != where.value
        case Comparison():
            actual = _actual(where, job)
            return actual is not None and _compare(actual, where.comparator, where.value)
        case _:
            assert_never(where)


def _actual(comparison: Comparison, job: Job) -> Value | None:
    match comparison.field:
        case Field.STATE:
            return job.state
        case Field.DISPLAY_NAME:
            return job.display_name
        case Field.JOB_ID:
            return job.name.job_id
        case Field.CREATE_TIME:
            return job.create_time
        case Field.START_TIME:
            return job.start_time
        case Field.END_TIME:
            return job.end_time
        case Field.LABEL:
            return dict(job.labels).get(comparison.label or "")
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
