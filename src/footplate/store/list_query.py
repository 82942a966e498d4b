"""Finds the next jobs of a list."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, assert_never

from sqlalchemy import (
    ColumnElement,
    Tuple,
    and_,
    exists,
    false,
    func,
    not_,
    or_,
    select,
    true,
    tuple_,
)

from footplate.domain.filters import OPERATORS, And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.job_states import State
from footplate.domain.timestamps import to_micros
from footplate.store.paging import Position
from footplate.store.tables import job_labels, jobs

if TYPE_CHECKING:
    from sqlalchemy import Connection, FromClause

    from footplate.store.row_codec import Record


Condition = ColumnElement[bool]

_OPERATORS: Mapping[Comparator, Callable[[Any, Any], Condition]] = OPERATORS


def condition(
    where: Filter,
    collection: str,
    of: FromClause = jobs,
    few: Collection[Comparison] = (),
) -> Condition:
    """Returns the SQL condition for the jobs of ``collection`` that match ``where``.

    ``check_filter`` must have accepted ``where``. ``of`` has the columns of jobs to compare.
    ``few`` has comparisons with labels that few jobs have.
    """
    match where:
        case And():
            return and_(true(), *(condition(part, collection, of, few) for part in where.parts))
        case Or():
            return or_(false(), *(condition(part, collection, of, few) for part in where.parts))
        case Not():
            return not_(condition(where.part, collection, of, few))
        case Comparison(comparator=Comparator.NOT_EQUAL):
            equal = replace(where, comparator=Comparator.EQUAL)
            return not_(condition(equal, collection, of, few))
        case Comparison(field=Field.LABEL):
            return _has_label(where, of, few=where in few)
        case Comparison():
            return _compare(where, collection, of)
        case _:
            assert_never(where)


def _compare(comparison: Comparison, collection: str, of: FromClause) -> Condition:
    field, comparator, value = comparison.field, comparison.comparator, comparison.value
    match field:
        case Field.JOB_ID if comparator is Comparator.EQUAL:  # by the index of whole names
            return of.c.name == f"{collection}/{value}"
        case Field.AUTHOR:
            return and_(of.c.author.is_not(None), _OPERATORS[comparator](of.c.author, _sql(value)))
        case Field.START_TIME | Field.END_TIME:
            column = of.c[field.value]
            return and_(column.is_not(None), _OPERATORS[comparator](column, _sql(value)))
        case Field.CREATE_TIME | Field.STATE | Field.REGION:
            return _OPERATORS[comparator](of.c[field.value], _sql(value))
        case Field.DISPLAY_NAME | Field.JOB_ID:
            folded = of.c[f"{field.value}_folded"]
            return _compare_text(of.c[field.value], folded, comparator, str(value))
        case Field.LABEL:
            raise ValueError(field)  # asked by ``_has_label``
        case _:
            assert_never(field)


def _has_label(comparison: Comparison, of: FromClause, *, few: bool) -> Condition:
    # Labels that few jobs bear are read once; of others each job is asked, until a page is full.
    borne = job_labels.alias("borne").c
    text = str(comparison.value)
    found = _compare_text(borne.value, borne.value_folded, comparison.comparator, text)
    labelled = and_(borne.key == comparison.label, found)
    if few:
        return of.c.uid.in_(select(borne.job_uid).where(labelled))
    return exists().where(borne.job_uid == of.c.uid, labelled)


def _compare_text(
    column: ColumnElement[str], folded: ColumnElement[str], comparator: Comparator, value: str
) -> Condition:
    if comparator is Comparator.MATCHES:
        return folded.like(_pattern(value.casefold()), escape="!")
    return _OPERATORS[comparator](column, value)


def _pattern(text: str) -> str:
    """Returns a pattern for LIKE: ``*`` is the wildcard; text without any may occur anywhere."""
    escaped = text.replace("!", "!!").replace("%", "!%").replace("_", "!_")
    return escaped.replace("*", "%") if "*" in text else f"%{escaped}%"


def _sql(value: str | State | datetime) -> str | int:
    if isinstance(value, datetime):
        return to_micros(value)
    return value.value if isinstance(value, State) else value


MOST_LABELS = 1_000
"""The labels that are read sooner than each job of a list is asked for its own."""


@dataclass(frozen=True)
class Section:
    """The jobs of a list that are older than ``below`` and newer than ``above``; None: no bound.

    They are read newest first, or oldest first.
    """

    below: Position | None = None
    above: Position | None = None
    oldest_first: bool = False

    def up_to(self, last: Position) -> Section:
        """Returns the part of the section that is read before ``last``."""
        return replace(self, below=last) if self.oldest_first else replace(self, above=last)

    def holds(self, place: Tuple) -> Iterator[Condition]:
        if self.below is not None:
            yield place < tuple_(self.below.create_time, self.below.uid)
        if self.above is not None:
            yield place > tuple_(self.above.create_time, self.above.uid)

    def order(self, *columns: ColumnElement[Any]) -> list[ColumnElement[Any]]:
        return [each.asc() if self.oldest_first else each.desc() for each in columns]


def find_jobs(
    connection: Connection,
    collection: str,
    where: Filter | None,
    section: Section,
    limit: int,
    also: Callable[[FromClause], Condition] | None = None,
) -> Sequence[Record]:
    """Returns the first jobs of a section of ``collection`` that match ``where`` and ``also``.

    ``check_filter`` must have accepted ``where``.
    """
    query = select(jobs.c.uid).where(jobs.c.collection == collection)
    if where is not None:
        few = [each for each in _labels(where) if _few_bear(connection, each)]
        query = query.where(condition(where, collection, few=few))
    if also is not None:
        query = query.where(also(jobs))
    query = query.where(*section.holds(tuple_(jobs.c.create_time, jobs.c.uid)))
    order = section.order(jobs.c.create_time, jobs.c.uid)
    # An index has all that is asked of most jobs: so whole rows are read of those found alone.
    found = query.order_by(*order).limit(limit)
    return connection.execute(select(jobs).where(jobs.c.uid.in_(found)).order_by(*order)).all()


def _labels(where: Filter) -> Iterator[Comparison]:
    match where:
        case And() | Or():
            for part in where.parts:
                yield from _labels(part)
        case Not():
            yield from _labels(where.part)
        case Comparison(field=Field.LABEL, comparator=Comparator.NOT_EQUAL):
            yield replace(where, comparator=Comparator.EQUAL)
        case Comparison(field=Field.LABEL):
            yield where
        case Comparison():
            pass
        case _:
            assert_never(where)


def _few_bear(connection: Connection, label: Comparison) -> bool:
    borne = job_labels.c
    bearers = select(borne.job_uid).where(borne.key == label.label)
    if label.comparator is Comparator.EQUAL:
        bearers = bearers.where(borne.value == label.value)
    some = bearers.limit(MOST_LABELS + 1).subquery()
    return connection.execute(select(func.count()).select_from(some)).scalar_one() <= MOST_LABELS
