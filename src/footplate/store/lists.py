"""The jobs of a list, newest first, by the index that passes over the fewest others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeGuard

from sqlalchemy import ColumnElement, Tuple, and_, select, true, tuple_

from footplate.domain.filters import And, Comparator, Comparison, Field
from footplate.ports.store import ACTIVE
from footplate.store.checks import check_filter
from footplate.store.conditions import Condition, bears, condition, possible
from footplate.store.tables import job_labels, job_spans, jobs

if TYPE_CHECKING:
    from sqlalchemy import Select

    from footplate.domain.filters import Filter
    from footplate.store.paging import Position


def newest(
    collection: str, where: Filter | None, after: Position | None, limit: int, *, lateral: bool
) -> Select[Any]:
    """The first ``limit`` jobs of ``collection`` that ``where`` describes, after ``after``.

    Where each has to bear a label, only those that bear it are walked through, and where each
    has to have a part of a name, only spans that have it; unless their name is given, or a state
    that few jobs are in. ``lateral``: whether the engine joins what refers to what it is joined to.

    Raises:
        InvalidArgument: as ``check_filter`` does.
    """
    if where is not None:
        check_filter(where)
    parts = _parts(where)
    few = any(map(_is_rare, parts))
    label = None if few else next(filter(_is_label, parts), None)
    walk = _ALL if label is None else _bearers(label)
    rest = [part for part in parts if part is not label]
    hold = (bears(part) if _is_label(part) else condition(part, collection) for part in rest)
    walk = walk.where(walk.collection == collection, *hold)
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
    """What is read one after the other, in the order of an index over these columns."""

    query: Select[Any]
    collection: ColumnElement[str]
    create_time: ColumnElement[int]
    uid: ColumnElement[str]

    @property
    def place(self) -> Tuple:
        return tuple_(self.create_time, self.uid)

    @property
    def order(self) -> tuple[ColumnElement[Any], ...]:
        return self.create_time.desc(), self.uid.desc()

    def where(self, *conditions: Condition) -> _Walk:
        return replace(self, query=self.query.where(*conditions))

    def newest(self, limit: int) -> Select[Any]:
        return self.query.order_by(*self.order).limit(limit)


_ALL = _Walk(select(jobs), jobs.c.collection, jobs.c.create_time, jobs.c.uid)
_LABELS = job_labels.c
_SPANS = job_spans.c


def _bearers(label: Comparison) -> _Walk:
    query = select(jobs).join(job_labels)
    query = query.where(_LABELS.key == label.label, _LABELS.value == label.value)
    return _Walk(query, _LABELS.collection, _LABELS.create_time, _LABELS.job_uid)


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
