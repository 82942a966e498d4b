"""Filters as SQL conditions.

Each comparison is true or false, never NULL: a job without the time or the label that is
asked for isn't equal, less or greater, and it is "not equal".
"""

from __future__ import annotations

import operator
from datetime import datetime
from typing import TYPE_CHECKING, Any, assert_never

from sqlalchemy import ColumnElement, and_, false, not_, or_, select, true

from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.states import State
from footplate.store.checks import check_filter
from footplate.store.tables import job_labels, jobs
from footplate.store.times import to_micros

if TYPE_CHECKING:
    from collections.abc import Callable

Condition = ColumnElement[bool]

_OPERATORS: dict[Comparator, Callable[[Any, Any], Condition]] = {
    Comparator.EQUAL: operator.eq,
    Comparator.LESS: operator.lt,
    Comparator.LESS_OR_EQUAL: operator.le,
    Comparator.GREATER: operator.gt,
    Comparator.GREATER_OR_EQUAL: operator.ge,
}


def condition(where: Filter | None) -> Condition:
    """What selects the jobs that ``where`` describes; None: all.

    Raises:
        InvalidArgument: as ``check_filter`` does.
    """
    if where is None:
        return true()
    check_filter(where)
    return _condition(where)


def _condition(where: Filter) -> Condition:
    match where:
        case And():
            return and_(true(), *(_condition(part) for part in where.parts))
        case Or():
            return or_(false(), *(_condition(part) for part in where.parts))
        case Not():
            return not_(_condition(where.part))
        case Comparison(comparator=Comparator.NOT_EQUAL):
            return not_(_equal_or_ordered(where, Comparator.EQUAL))
        case Comparison():
            return _equal_or_ordered(where, where.comparator)
        case _:
            assert_never(where)


def _equal_or_ordered(comparison: Comparison, comparator: Comparator) -> Condition:
    field, value = comparison.field, comparison.value
    match field:
        case Field.LABEL:
            return _has_label(comparison, comparator)
        case Field.START_TIME | Field.END_TIME:
            column = jobs.c[field.value]
            return and_(column.is_not(None), _OPERATORS[comparator](column, _sql(value)))
        case Field.CREATE_TIME | Field.STATE:
            return _OPERATORS[comparator](jobs.c[field.value], _sql(value))
        case Field.DISPLAY_NAME | Field.JOB_ID:
            folded = jobs.c[f"{field.value}_folded"]
            return _compare_text(jobs.c[field.value], folded, comparator, str(value))
        case _:
            assert_never(field)


def _has_label(comparison: Comparison, comparator: Comparator) -> Condition:
    label = job_labels.c
    found = _compare_text(label.value, label.value_folded, comparator, str(comparison.value))
    return jobs.c.uid.in_(select(label.job_uid).where(label.key == comparison.label, found))


def _compare_text(
    column: ColumnElement[str], folded: ColumnElement[str], comparator: Comparator, value: str
) -> Condition:
    if comparator is Comparator.MATCHES:
        return folded.like(_pattern(value.casefold()), escape="!")
    return _OPERATORS[comparator](column, value)


def _pattern(text: str) -> str:
    """LIKE's pattern for ``*`` as wildcard; without any: contained in it."""
    escaped = text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return escaped.replace("*", "%") if "*" in text else f"%{escaped}%"


def _sql(value: str | State | datetime) -> str | int:
    if isinstance(value, datetime):
        return to_micros(value)
    return value.value if isinstance(value, State) else value
