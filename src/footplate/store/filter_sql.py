"""Converts filters to SQL conditions.

Each comparison is true or false, never NULL: a job without the time or the label that is
asked for isn't equal, less or greater, and it is "not equal".
"""

from __future__ import annotations

import operator
from datetime import datetime
from typing import TYPE_CHECKING, Any, assert_never

from sqlalchemy import ColumnElement, UnaryExpression, and_, exists, false, not_, or_, select, true
from sqlalchemy.sql.operators import custom_op

from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.job_states import State
from footplate.store.tables import job_labels, job_spans, jobs
from footplate.store.timestamps import to_micros

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import FromClause

Condition = ColumnElement[bool]

_OPERATORS: dict[Comparator, Callable[[Any, Any], Condition]] = {
    Comparator.EQUAL: operator.eq,
    Comparator.LESS: operator.lt,
    Comparator.LESS_OR_EQUAL: operator.le,
    Comparator.GREATER: operator.gt,
    Comparator.GREATER_OR_EQUAL: operator.ge,
}


def condition(where: Filter, collection: str, of: FromClause = jobs) -> Condition:
    """What selects the jobs of ``collection`` that ``where`` describes, which has been checked.

    ``of`` has the columns of the jobs that are asked.
    """
    match where:
        case And():
            return and_(true(), *(condition(part, collection, of) for part in where.parts))
        case Or():
            return or_(false(), *(condition(part, collection, of) for part in where.parts))
        case Not():
            return not_(condition(where.part, collection, of))
        case Comparison(comparator=Comparator.NOT_EQUAL):
            return not_(_equal_or_ordered(where, Comparator.EQUAL, collection, of))
        case Comparison():
            return _equal_or_ordered(where, where.comparator, collection, of)
        case _:
            assert_never(where)


def possible(where: Filter) -> Condition | None:
    """What is true of each span that has a job as ``where`` describes; None: nothing is known."""
    match where:
        case And():
            known = _known(where.parts)
            return and_(*known) if known else None
        case Or():
            known = _known(where.parts)
            return or_(false(), *known) if len(known) == len(where.parts) else None
        case Comparison(Field.JOB_ID | Field.DISPLAY_NAME, Comparator.MATCHES, value):
            names = job_spans.c[f"{where.field.value}_folded"]
            return names.like(f"%{_pattern(str(value).casefold())}%", escape="!")
        case _:
            return None


def _known(parts: tuple[Filter, ...]) -> list[Condition]:
    return [known for part in parts if (known := possible(part)) is not None]


def _equal_or_ordered(
    comparison: Comparison, comparator: Comparator, collection: str, of: FromClause
) -> Condition:
    field, value = comparison.field, comparison.value
    match field:
        case Field.JOB_ID if comparator is Comparator.EQUAL:  # by the index of whole names
            return of.c.name == f"{collection}/{value}"
        case Field.LABEL:
            return _has_label(comparison, comparator, of)
        case Field.START_TIME | Field.END_TIME:
            column = _unindexed(of.c[field.value])
            return and_(column.is_not(None), _OPERATORS[comparator](column, _sql(value)))
        case Field.CREATE_TIME | Field.STATE:
            return _OPERATORS[comparator](of.c[field.value], _sql(value))
        case Field.DISPLAY_NAME | Field.JOB_ID:
            folded = of.c[f"{field.value}_folded"]
            return _compare_text(of.c[field.value], folded, comparator, str(value))
        case _:
            assert_never(field)


def ends(comparison: Comparison) -> Condition:
    """What is asked for of the end of a job, to be found by the index of ends."""
    return _OPERATORS[comparison.comparator](jobs.c.end_time, _sql(comparison.value))


def _unindexed(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """The column, by no index of its own: only the order of the list finds a page at once."""
    return UnaryExpression(column, operator=custom_op("+"), type_=column.type)


def bears(label: Comparison, of: FromClause = jobs) -> Condition:
    """What a label equals, asked of each job: for few jobs, and labels that many bear."""
    borne = job_labels.alias("borne").c
    of_job = borne.job_uid == of.c.uid
    return exists().where(of_job, borne.key == label.label, borne.value == label.value)


def _has_label(comparison: Comparison, comparator: Comparator, of: FromClause) -> Condition:
    label = job_labels.c
    found = _compare_text(label.value, label.value_folded, comparator, str(comparison.value))
    return of.c.uid.in_(select(label.job_uid).where(label.key == comparison.label, found))


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
