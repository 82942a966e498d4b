"""The jobs of a list, newest first, by the index that passes over the fewest others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from sqlalchemy import ColumnElement, select, tuple_

from footplate.domain.filters import And, Comparator, Comparison, Field
from footplate.ports.store import ACTIVE
from footplate.store.checks import check_filter
from footplate.store.conditions import bears, condition
from footplate.store.tables import job_labels, jobs

if TYPE_CHECKING:
    from sqlalchemy import Select

    from footplate.domain.filters import Filter
    from footplate.store.paging import Position


def newest(collection: str, where: Filter | None, after: Position | None) -> Select[Any]:
    """The jobs of ``collection`` that ``where`` describes, from the one after ``after`` on.

    Where each has to bear a label, only those that bear it are walked through, unless their
    name is given, or a state that few jobs are in.

    Raises:
        InvalidArgument: as ``check_filter`` does.
    """
    if where is not None:
        check_filter(where)
    parts = _parts(where)
    walk = _bearers(label) if (label := _leading_label(parts)) else _ALL
    rest = [part for part in parts if part is not label]
    hold = (bears(part) if _is_label(part) else condition(part, collection) for part in rest)
    query = walk.query.where(walk.collection == collection, *hold)
    if after is not None:
        place = tuple_(walk.create_time, walk.uid)
        query = query.where(tuple_(after.create_time, after.uid) > place)
    return query.order_by(walk.create_time.desc(), walk.uid.desc())


@dataclass(frozen=True)
class _Walk:
    """What is read one after the other, in the order of an index over these columns."""

    query: Select[Any]
    collection: ColumnElement[str]
    create_time: ColumnElement[int]
    uid: ColumnElement[str]


_ALL = _Walk(select(jobs), jobs.c.collection, jobs.c.create_time, jobs.c.uid)
_LABELS = job_labels.c


def _bearers(label: Comparison) -> _Walk:
    query = select(jobs).join(job_labels)
    query = query.where(_LABELS.key == label.label, _LABELS.value == label.value)
    return _Walk(query, _LABELS.collection, _LABELS.create_time, _LABELS.job_uid)


def _leading_label(parts: tuple[Filter, ...]) -> Comparison | None:
    return None if any(map(_is_rare, parts)) else next(filter(_is_label, parts), None)


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
