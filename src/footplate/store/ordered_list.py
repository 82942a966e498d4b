"""Reads a page of jobs in an order other than the newest first."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, case, false, func, or_, select

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.filters import Field, Filter
from footplate.domain.job_order import TIMES, JobOrder, Value, directions, order_values
from footplate.domain.jobs import Job
from footplate.domain.text_validation import storable
from footplate.store.list_query import condition
from footplate.store.pipeline_rows import Restriction, is_row_of_its_own
from footplate.store.tables import jobs

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection

    from footplate.store.row_codec import Record

_LARGEST = 2**63


def order_key(job: Job, order: JobOrder) -> str:
    """Returns the key for continuing a list after the job."""
    text = json.dumps(order_values(job, order), separators=(",", ":"))
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def parse_order_key(key: str, order: JobOrder) -> tuple[Value, ...]:
    """Parses a key. Raises InvalidArgument: ``order_key`` never returned it for this order."""
    try:
        raw = base64.b64decode(key + "=" * (-len(key) % 4), altchars=b"-_", validate=True)
        values = json.loads(raw)
    except (ValueError, binascii.Error, RecursionError):
        values = None
    kinds = [*_kinds(order), int, str]
    if isinstance(values, list) and [type(each) for each in values] == kinds:
        texts = [each for each in values if isinstance(each, str)]
        numbers = [each for each in values if isinstance(each, int)]
        if all(map(storable, texts)) and all(abs(each) < _LARGEST for each in numbers):
            return tuple(values)
    rule = "the nextPageToken of an earlier answer to a request with the same order"
    raise InvalidArgument.of((Violation("pageToken", f"{key[:80]!a} given; allowed: {rule}"),))


def find_in_order(
    connection: Connection,
    lists: Mapping[str, Filter | None],
    order: JobOrder,
    limit: int,
    after: tuple[Value, ...] | None,
    *,
    once: bool = False,
) -> list[Record]:
    """Returns the first ``limit`` jobs after ``after`` in all collections together.

    Each collection has its own filter. First only the uids are read, from an index, which is faster
    than sorting whole jobs.
    """
    here = [
        _within(name, where, is_row_of_its_own(lists, name) if once else None)
        for name, where in lists.items()
    ]
    keys = [*_columns(order), jobs.c.create_time, jobs.c.uid]
    down = directions(order)
    query = select(jobs.c.uid).where(or_(false(), *here))
    if after is not None:
        query = query.where(_behind(keys, down, after))
    by = [key.desc() if descends else key.asc() for key, descends in zip(keys, down, strict=True)]
    uids = connection.scalars(query.order_by(*by).limit(limit)).all()
    rows = connection.execute(select(jobs).where(jobs.c.uid.in_(uids))).all()
    place = {uid: index for index, uid in enumerate(uids)}
    return sorted(rows, key=lambda row: place[row.uid])


def _within(
    collection: str, where: Filter | None, restrict: Restriction | None
) -> ColumnElement[bool]:
    here = jobs.c.collection == collection
    if restrict is not None:
        here = and_(here, restrict(jobs))
    return here if where is None else and_(here, condition(where, collection))


def _behind(
    keys: Sequence[ColumnElement[Any]], down: Sequence[bool], values: Sequence[Value]
) -> ColumnElement[bool]:
    """Returns the condition that a row comes after ``values``, by the first key that differs."""
    cases: list[ColumnElement[bool]] = []
    for index, (key, descends) in enumerate(zip(keys, down, strict=True)):
        same = [k == v for k, v in zip(keys[:index], values[:index], strict=True)]
        cases.append(and_(*same, key < values[index] if descends else key > values[index]))
    return or_(*cases)


def _columns(order: JobOrder) -> Iterator[ColumnElement[Any]]:
    for each in order:
        if each.field in (Field.DISPLAY_NAME, Field.JOB_ID):
            yield jobs.c[f"{each.field.value}_folded"]
        elif each.field in TIMES:
            column = jobs.c[each.field.value]
            yield case((column.is_(None), 1), else_=0)
            yield func.coalesce(column, 0)
        elif each.field is Field.AUTHOR:
            yield func.coalesce(jobs.c.author, "")
        else:
            yield jobs.c[each.field.value]


def _kinds(order: JobOrder) -> Iterator[type]:
    for each in order:
        if each.field in TIMES:
            yield from (int, int)
        else:
            yield int if each.field is Field.CREATE_TIME else str
