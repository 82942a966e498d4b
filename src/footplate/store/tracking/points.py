"""Stores the points of time series."""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING

from sqlalchemy import func, select
from sqlalchemy.exc import IntegrityError

from footplate.domain.errors import NotFound
from footplate.domain.text_validation import storable
from footplate.domain.timestamps import from_micros, to_micros
from footplate.domain.tracking.names import parse_tracking_name
from footplate.domain.tracking.points import Extent, Point
from footplate.store.named_rows import unknown
from footplate.store.tables import tracking, tracking_points
from footplate.store.tracking.rows import batches
from footplate.store.upsert import upsert

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from sqlalchemy import Connection

    from footplate.domain.tracking.names import TrackingName
    from footplate.store.row_codec import Record, Values
    from footplate.store.transactions import Transactions

_POINTS = tracking_points.c


class SqlPoints:
    """The part of ``SqlTracking`` that stores points."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def append(self, points: Mapping[TrackingName, Sequence[Point]]) -> None:
        with self._transactions.writing() as connection:
            rows = [
                values
                for name, added in points.items()
                for values in _values(_series(connection, name), added)
            ]
            try:
                upsert(connection, tracking_points, rows, "time", "value", "body")
            except IntegrityError as error:  # deleted by another server at this moment
                raise NotFound("one of the time series does not exist any more") from error

    def points(
        self, name: TrackingName, *, limit: int, after: int | None = None
    ) -> tuple[Point, ...]:
        with self._transactions.snapshot() as connection:
            query = select(tracking_points).where(_POINTS.series == _series(connection, name))
            if after is not None:
                query = query.where(_POINTS.step > after)
            rows = connection.execute(query.order_by(_POINTS.step).limit(limit)).all()
        return tuple(map(_point, rows))

    def sample(self, name: TrackingName, most: int) -> tuple[Point, ...]:
        with self._transactions.snapshot() as connection:
            here = _POINTS.series == _series(connection, name)
            count = connection.scalar(select(func.count()).where(here)) or 0
            query = select(tracking_points).where(here).order_by(_POINTS.step)
            if count > most:
                behind = func.row_number().over(order_by=_POINTS.step.desc()) - 1
                numbered = select(tracking_points, behind.label("behind")).where(here).subquery()
                query = select(numbered).where((numbered.c.behind * most) % count < most)
                query = query.order_by(numbered.c.step)
            rows = connection.execute(query).all()
        return tuple(map(_point, rows))

    def extents(self, names: Collection[TrackingName]) -> Mapping[TrackingName, Extent]:
        later = tracking_points.alias().c
        last = select(func.max(later.step)).where(later.series == tracking.c.uid).scalar_subquery()
        query = select(tracking.c.name, _POINTS.step, _POINTS.time).where(
            _POINTS.series == tracking.c.uid, _POINTS.step == last
        )
        with self._transactions.snapshot() as connection:
            rows = [
                row
                for some in batches(sorted(filter(storable, map(str, names))))
                for row in connection.execute(query.where(tracking.c.name.in_(some)))
            ]
        return {
            parse_tracking_name(row.name): Extent(row.step, from_micros(row.time)) for row in rows
        }


def _series(connection: Connection, name: TrackingName) -> str:
    """Returns the uid of a time series. Raises NotFound."""
    query = select(tracking.c.uid).where(tracking.c.name == str(name))
    uid = connection.scalar(query) if storable(str(name)) else None
    if uid is None:
        raise unknown(name)
    return str(uid)


def _values(series: str, points: Sequence[Point]) -> list[Values]:
    last = {point.step: point for point in points}
    return [
        {
            "series": series,
            "step": point.step,
            "time": to_micros(point.time),
            "value": _stored(point.value),
            "body": point.value if isinstance(point.value, str) else None,
        }
        for point in last.values()
    ]


def _stored(value: float | str) -> float | None:
    return None if isinstance(value, str) or isnan(value) else value


def _point(row: Record) -> Point:
    value = nan if row.value is None else row.value
    return Point(row.step, from_micros(row.time), value if row.body is None else row.body)
