"""Finds the next jobs of a list by the most selective index."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeGuard, assert_never

from sqlalchemy import (
    ColumnElement,
    Tuple,
    UnaryExpression,
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
from sqlalchemy.sql.operators import custom_op

from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.job_states import State
from footplate.domain.timestamps import to_micros
from footplate.ports.store import ACTIVE
from footplate.store.tables import job_labels, job_spans, jobs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from sqlalchemy import Connection, FromClause, Select

    from footplate.store.paging import Position
    from footplate.store.row_codec import Record


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
        case Field.AUTHOR:
            return and_(of.c.author.is_not(None), _OPERATORS[comparator](of.c.author, _sql(value)))
        case Field.START_TIME | Field.END_TIME:
            column = _unindexed(of.c[field.value])
            return and_(column.is_not(None), _OPERATORS[comparator](column, _sql(value)))
        case Field.CREATE_TIME | Field.STATE | Field.REGION:
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


def _has_label(comparison: Comparison, comparator: Comparator, of: FromClause) -> Condition:
    """Asked of each job: for few jobs, and labels that many bear."""
    borne = job_labels.alias("borne").c
    found = _compare_text(borne.value, borne.value_folded, comparator, str(comparison.value))
    return exists().where(borne.job_uid == of.c.uid, borne.key == comparison.label, found)


def _has_rare_label(comparison: Comparison, of: FromClause) -> Condition:
    """Asked of the labels with this key, where they are few."""
    label, value = job_labels.c, str(comparison.value)
    found = _compare_text(label.value, label.value_folded, comparison.comparator, value)
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


MOST_LABELS = 200
"""So many labels with a key are read sooner than jobs of a list are asked for theirs."""

MOST_ENDED = 200
"""So many jobs are read and sorted sooner than a list of any length is read in its order."""


@dataclass(frozen=True)
class Section:
    """The jobs of a list that are older than ``below`` and newer than ``above``; None: no bound.

    They are read from the newest on, or from the oldest on.
    """

    below: Position | None = None
    above: Position | None = None
    oldest_first: bool = False

    def up_to(self, last: Position) -> Section:
        """What of it is read before ``last``."""
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
    """The first ``limit`` jobs of a section of ``collection`` that ``where`` describes, and
    ``also``.

    ``where`` is one that ``check_filter`` lets pass.
    """
    parts = _parts(where)
    few = False
    if any(map(_asks_for_end, parts)) and not any(map(_is_rare, parts)):
        ended = select(func.count()).select_from(_ended(collection, parts).subquery())
        few = connection.execute(ended).scalar_one() <= MOST_ENDED
    rare = frozenset(key for key in map(_label_key, parts) if key and _few_have(connection, key))
    lateral = connection.dialect.name != "sqlite"
    query = _first(
        collection, where, section, limit, also, lateral=lateral, few_ended=few, rare=rare
    )
    return connection.execute(query).all()


def _first(
    collection: str,
    where: Filter | None,
    section: Section,
    limit: int,
    also: Callable[[FromClause], Condition] | None,
    *,
    lateral: bool,
    few_ended: bool,
    rare: frozenset[str],
) -> Select[Any]:
    """Where each has to bear a label, only those that bear it are walked through, and where each
    has to have a part of a name, only spans that have it; unless their name is given, or a state
    that few jobs are in, or few have ended when each has to. ``lateral``: whether the engine joins
    what refers to what it is joined to. ``rare``: keys that few labels have.
    """
    parts = _parts(where)
    few = few_ended or any(map(_is_rare, parts))
    label = None if few else next(filter(_is_label, parts), None)
    walk = _ALL if label is None else _bearers(label)
    if few_ended:
        walk = _over(_ended(collection, parts).subquery("ended"))
    rest = [part for part in parts if part is not label]
    in_region = not (lateral or few) and any(map(_is_region, parts))
    walk = walk.where(
        walk.collection == collection, *walk.hold(rest, collection, rare, in_region=in_region)
    )
    walk = walk.where(*section.holds(walk.place))
    if also is not None:
        walk = walk.where(also(walk.jobs))
    if few or where is None or (named := possible(where)) is None:
        return walk.first(section, limit)
    spans = and_(_SPANS.collection == collection, named)
    if section.below is not None:
        spans = and_(spans, _SPANS.begin <= section.below.create_time)
    if section.above is not None:
        spans = and_(spans, _SPANS.until > section.above.create_time)
    within = _within_each if lateral else _within
    return within(spans, walk, section, limit)


def _within(spans: Condition, walk: _Walk, section: Section, limit: int) -> Select[Any]:
    """SQLite reads the spans in their order, and of each the jobs in theirs, and stops."""
    walk = walk.where(spans, _SPANS.begin <= walk.create_time, _SPANS.until > walk.create_time)
    order = section.order(_SPANS.begin, walk.create_time, walk.uid)
    return walk.query.order_by(*order).limit(limit)


def _within_each(spans: Condition, walk: _Walk, section: Section, limit: int) -> Select[Any]:
    """PostgreSQL would rather read all and sort them, unless each span has a list of its own."""
    walk = walk.where(_SPANS.begin <= walk.create_time, _SPANS.until > walk.create_time)
    found = walk.first(section, limit).correlate(job_spans).lateral("found")
    query = select(found).select_from(job_spans).join(found, true()).where(spans)
    order = section.order(_SPANS.begin, found.c.create_time, found.c.uid)
    return query.order_by(*order).limit(limit)


@dataclass(frozen=True)
class _Walk:
    """Jobs that are read one after the other, in the order of an index over these columns."""

    query: Select[Any]
    jobs: FromClause
    collection: ColumnElement[str]
    create_time: ColumnElement[int]
    uid: ColumnElement[str]

    @property
    def place(self) -> Tuple:
        return tuple_(self.create_time, self.uid)

    def hold(
        self, parts: Iterable[Filter], collection: str, rare: frozenset[str], *, in_region: bool
    ) -> Iterator[Condition]:
        """What of each job has to hold. ``in_region``: by no index of states, so that SQLite
        takes the one of regions, which has the states, too.
        """
        for part in parts:
            found = self.jobs
            if _label_key(part) in rare and isinstance(part, Comparison):
                yield _has_rare_label(part, found)
            elif in_region and _compares(part, Field.STATE):
                yield found.c.state.concat("") == _sql(part.value)
            else:
                yield condition(part, collection, found)

    def where(self, *conditions: Condition) -> _Walk:
        return replace(self, query=self.query.where(*conditions))

    def first(self, section: Section, limit: int) -> Select[Any]:
        return self.query.order_by(*section.order(self.create_time, self.uid)).limit(limit)


def _over(found: FromClause) -> _Walk:
    return _Walk(select(found), found, found.c.collection, found.c.create_time, found.c.uid)


_ALL = _over(jobs)
_LABELS = job_labels.c
_SPANS = job_spans.c


def _bearers(label: Comparison) -> _Walk:
    query = select(jobs).join(job_labels)
    query = query.where(_LABELS.key == label.label, _LABELS.value == label.value)
    return _Walk(query, jobs, _LABELS.collection, _LABELS.create_time, _LABELS.job_uid)


def _ended(collection: str, parts: Iterable[Filter]) -> Select[Any]:
    """The jobs that ended when all ``parts`` want it. With a limit no engine looks for them in
    another order than by their ends.
    """
    when = (ends(part) for part in parts if _asks_for_end(part))
    return select(jobs).where(jobs.c.collection == collection, *when).limit(MOST_ENDED + 1)


def _asks_for_end(part: Filter) -> TypeGuard[Comparison]:
    if not isinstance(part, Comparison) or part.comparator is Comparator.NOT_EQUAL:
        return False
    return part.field is Field.END_TIME


def _label_key(part: Filter) -> str:
    """Of a label that each job has to bear, with whatever value; else empty."""
    if not isinstance(part, Comparison) or part.field is not Field.LABEL:
        return ""
    exact = part.comparator in (Comparator.EQUAL, Comparator.NOT_EQUAL)
    return "" if exact else part.label or ""


def _few_have(connection: Connection, key: str) -> bool:
    some = select(_LABELS.job_uid).where(_LABELS.key == key).limit(MOST_LABELS + 1).subquery()
    return connection.execute(select(func.count()).select_from(some)).scalar_one() <= MOST_LABELS


def _is_label(part: Filter) -> TypeGuard[Comparison]:
    return _compares(part, Field.LABEL)


def _is_region(part: Filter) -> bool:
    return _compares(part, Field.REGION)


def _is_rare(part: Filter) -> bool:
    """Whether few jobs are so, and an index has them."""
    if _compares(part, Field.STATE):
        return part.value in ACTIVE
    return _compares(part, Field.JOB_ID, Field.DISPLAY_NAME)


def _compares(part: Filter, *fields: Field) -> TypeGuard[Comparison]:
    if not isinstance(part, Comparison) or part.comparator is not Comparator.EQUAL:
        return False
    return part.field in fields


def _parts(where: Filter | None) -> tuple[Filter, ...]:
    """What has to be true all at once."""
    if where is None:
        return ()
    return where.parts if isinstance(where, And) else (where,)
