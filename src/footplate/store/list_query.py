"""Finds the newest jobs of a list by the most selective index."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard

from sqlalchemy import ColumnElement, Tuple, and_, func, select, true, tuple_

from footplate.domain.filters import And, Comparator, Comparison, Field
from footplate.ports.store import ACTIVE
from footplate.store.filter_sql import Condition, bears, condition, ends, possible
from footplate.store.tables import job_labels, job_spans, jobs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Connection, FromClause, Select

    from footplate.domain.filters import Filter
    from footplate.store.paging import Position
    from footplate.store.row_codec import Record

MOST_ENDED = 200
"""So many jobs are read and sorted sooner than a list of any length is read in its order."""


def find_newest(
    connection: Connection,
    collection: str,
    where: Filter | None,
    after: Position | None,
    limit: int,
) -> Sequence[Record]:
    """The first ``limit`` jobs of ``collection`` that ``where`` describes, after ``after``.

    ``where`` is one that ``check_filter`` lets pass.
    """
    parts = _parts(where)
    few = False
    if any(map(_asks_for_end, parts)) and not any(map(_is_rare, parts)):
        ended = select(func.count()).select_from(_ended(collection, parts).subquery())
        few = connection.execute(ended).scalar_one() <= MOST_ENDED
    lateral = connection.dialect.name != "sqlite"
    query = _newest(collection, where, after, limit, lateral=lateral, few_ended=few)
    return connection.execute(query).all()


def _newest(
    collection: str,
    where: Filter | None,
    after: Position | None,
    limit: int,
    *,
    lateral: bool,
    few_ended: bool,
) -> Select[Any]:
    """Where each has to bear a label, only those that bear it are walked through, and where each
    has to have a part of a name, only spans that have it; unless their name is given, or a state
    that few jobs are in, or few have ended when each has to. ``lateral``: whether the engine joins
    what refers to what it is joined to.
    """
    parts = _parts(where)
    few = few_ended or any(map(_is_rare, parts))
    label = None if few else next(filter(_is_label, parts), None)
    walk = _ALL if label is None else _bearers(label)
    if few_ended:
        walk = _over(_ended(collection, parts).subquery("ended"))
    rest = [part for part in parts if part is not label]
    walk = walk.where(walk.collection == collection, *walk.hold(rest, collection))
    if after is not None:
        walk = walk.where(tuple_(after.create_time, after.uid) > walk.place)
    if few or where is None or (named := possible(where)) is None:
        return walk.newest(limit)
    spans = and_(_SPANS.collection == collection, named)
    if after is not None:
        spans = and_(spans, _SPANS.begin <= after.create_time)
    return _within_each(spans, walk, limit) if lateral else _within(spans, walk, limit)


def _within(spans: Condition, walk: _Walk, limit: int) -> Select[Any]:
    """SQLite reads the spans in their order, and of each the jobs in theirs, and stops."""
    walk = walk.where(spans, _SPANS.begin <= walk.create_time, _SPANS.until > walk.create_time)
    return walk.query.order_by(_SPANS.begin.desc(), *walk.order).limit(limit)


def _within_each(spans: Condition, walk: _Walk, limit: int) -> Select[Any]:
    """PostgreSQL would rather read all and sort them, unless each span has a list of its own."""
    walk = walk.where(_SPANS.begin <= walk.create_time, _SPANS.until > walk.create_time)
    found = walk.newest(limit).correlate(job_spans).lateral("found")
    query = select(found).select_from(job_spans).join(found, true()).where(spans)
    order = (_SPANS.begin.desc(), found.c.create_time.desc(), found.c.uid.desc())
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

    @property
    def order(self) -> tuple[ColumnElement[Any], ...]:
        return self.create_time.desc(), self.uid.desc()

    def hold(self, parts: Iterable[Filter], collection: str) -> Iterator[Condition]:
        """What of each job has to hold."""
        for part in parts:
            found = self.jobs
            yield bears(part, found) if _is_label(part) else condition(part, collection, found)

    def where(self, *conditions: Condition) -> _Walk:
        return replace(self, query=self.query.where(*conditions))

    def newest(self, limit: int) -> Select[Any]:
        return self.query.order_by(*self.order).limit(limit)


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


def _is_label(part: Filter) -> TypeGuard[Comparison]:
    return _compares(part, Field.LABEL)


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
