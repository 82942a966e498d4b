"""Stores resources of metadata stores and TensorBoards, which stand within each other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from hashlib import sha256
from math import isnan, nan
from typing import TYPE_CHECKING

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.exc import IntegrityError

from footplate.domain.errors import AlreadyExists, DataLoss, NotFound
from footplate.domain.filters import leaves
from footplate.domain.text_validation import storable
from footplate.domain.timestamps import from_micros, to_micros
from footplate.domain.tracking.filters import Filter, LinkedTo, matches, required_links
from footplate.domain.tracking.names import DATASETS, TrackingName, parse_tracking_name
from footplate.domain.tracking.points import Extent, Point
from footplate.domain.tracking.resources import Link, LinkKind, Resource
from footplate.ports.notifications import NoticeKind
from footplate.ports.pages import Page
from footplate.store import documents
from footplate.store.documents import Labels
from footplate.store.named_rows import check_version, position_by_name, rows_behind, unknown
from footplate.store.paging import Position, first_page
from footplate.store.row_codec import Values
from footplate.store.tables import tracking, tracking_links, tracking_points
from footplate.store.transactions import Transactions
from footplate.store.upsert import upsert

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

    from footplate.store.row_codec import Record


_MOST_NAMES = 500
"""In one query: databases bound the number of its parameters."""


def resource_values(resource: Resource) -> Values:
    body = {"updateTime": to_micros(resource.update_time), "fields": dict(resource.fields)}
    outer, key = resource.name.outer, resource.unique_key
    return {
        "name": str(resource.name),
        "uid": resource.uid,
        "within": None if outer is None else str(outer),
        "collection": resource.name.collection,
        "unique_digest": None if key is None else sha256(key.encode()).hexdigest(),
        "create_time": to_micros(resource.create_time),
        "version": resource.version,
        "body": documents.write_object(body),
    }


def resource_of(row: Record) -> Resource:
    """Makes a resource from a row.

    Raises DataLoss: the row is damaged, or of an unknown version.
    """
    try:
        body = documents.load(row.body)
        return Resource(
            name=parse_tracking_name(row.name),
            uid=row.uid,
            create_time=from_micros(row.create_time),
            update_time=from_micros(body["updateTime"]),
            fields=body["fields"],
            version=row.version,
        )
    except (KeyError, TypeError, ValueError, OverflowError, NotFound) as error:
        raise DataLoss(f"the stored record of {row.name} can't be read: {error}") from error


def batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), _MOST_NAMES):
        yield names[start : start + _MOST_NAMES]


# Stores the points of time series.

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
                for values in _point_values(_series(connection, name), added)
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


def _point_values(series: str, points: Sequence[Point]) -> list[Values]:
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


# Stores links between contexts, artifacts and executions.

_LINKS = tracking_links.c


class SqlLinks:
    """The part of ``SqlTracking`` that stores links."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def link(self, links: Sequence[Link]) -> None:
        if not links:
            return
        ends = {str(end) for link in links for end in (link.source, link.target)}
        with self._transactions.writing() as connection:
            found: set[str] = set()
            for some in batches(sorted(filter(storable, ends))):
                named = tracking.c.name.in_(some)
                found.update(connection.scalars(select(tracking.c.name).where(named)))
            for name in sorted(ends - found):
                raise NotFound(f"{ascii(name)[1:-1]} does not exist")
            is_sqlite = connection.dialect.name == "sqlite"
            insert = sqlite.insert if is_sqlite else postgresql.insert
            statement = insert(tracking_links).on_conflict_do_nothing()
            try:
                connection.execute(statement, [_values(link) for link in links])
            except IntegrityError as error:  # deleted by another server at this moment
                raise NotFound("one of the linked resources does not exist any more") from error

    def unlink(self, source: TrackingName, targets: Collection[TrackingName]) -> None:
        with self._transactions.writing() as connection:
            for some in batches(sorted(filter(storable, map(str, targets)))):
                here = (_LINKS.source == str(source)) & _LINKS.target.in_(some)
                connection.execute(delete(tracking_links).where(here))

    def links(
        self, names: Collection[TrackingName], kinds: Collection[LinkKind], *, upwards: bool = False
    ) -> tuple[Link, ...]:
        end = _LINKS.target if upwards else _LINKS.source
        asked = sorted({str(name) for name in names if storable(str(name))})
        of_kind = _LINKS.kind.in_([kind.value for kind in kinds])
        with self._transactions.snapshot() as connection:
            rows = [
                row
                for some in batches(asked)
                for row in connection.execute(select(tracking_links).where(end.in_(some), of_kind))
            ]
        rows.sort(key=lambda row: (row.time, row.source, row.target))
        return tuple(map(_link, rows))


def linked_names(link: LinkedTo) -> Select[str]:
    """Returns a query for the names of the resources that have ``link``."""
    if link.downwards:
        return select(_LINKS.source).where(_LINKS.target == link.name)
    return select(_LINKS.target).where(_LINKS.source == link.name)


def _values(link: Link) -> Values:
    return {
        "source": str(link.source),
        "target": str(link.target),
        "kind": link.kind.value,
        "time": to_micros(link.time),
        "labels": documents.write(Labels(link.labels)),
    }


def _link(row: Record) -> Link:
    """Makes a link from a row. Raises DataLoss, as for resources."""
    try:
        return Link(
            source=parse_tracking_name(row.source),
            kind=LinkKind(row.kind),
            target=parse_tracking_name(row.target),
            time=from_micros(row.time),
            labels=documents.read(Labels, row.labels).labels,
        )
    except (KeyError, TypeError, ValueError, OverflowError, NotFound) as error:
        message = f"the stored link from {row.source} to {row.target} can't be read: {error}"
        raise DataLoss(message) from error


class SqlTracking(SqlLinks, SqlPoints):
    """Stores tracking resources in SQL; any number of threads and servers may use it at once."""

    def __init__(self, transactions: Transactions) -> None:
        SqlLinks.__init__(self, transactions)
        SqlPoints.__init__(self, transactions)
        self._transactions = transactions

    def create(self, new: Sequence[Resource], changed: Sequence[Resource] = ()) -> None:
        with self._transactions.writing() as connection:
            _write(connection, changed)
            _check_free(connection, new)
            try:
                connection.execute(insert(tracking), [resource_values(each) for each in new])
            except IntegrityError as error:
                raise _taken(new[0]) from error

    def get(self, name: TrackingName) -> Resource:
        found = self.find((name,))
        if not found:
            raise unknown(name)
        return found[0]

    def find(self, names: Collection[TrackingName]) -> tuple[Resource, ...]:
        asked = sorted({str(name) for name in names if storable(str(name))})
        with self._transactions.snapshot() as connection:
            rows = [
                row
                for some in batches(asked)
                for row in connection.execute(select(tracking).where(tracking.c.name.in_(some)))
            ]
        return tuple(
            resource_of(row) for row in sorted(rows, key=lambda r: (r.create_time, r.name))
        )

    def write(self, *changed: Resource) -> None:
        with self._transactions.writing() as connection:
            _write(connection, changed)
            if datasets := [str(each.name) for each in changed if each.name.kind == DATASETS]:
                # One of them may have an export to do.
                self._transactions.tell(connection, NoticeKind.MODEL, *datasets)

    def delete(self, name: TrackingName, version: int | None = None) -> None:
        if not storable(str(name)):
            raise unknown(name)
        with self._transactions.writing() as connection:
            check_version(connection, tracking, name, version)
            connection.execute(delete(tracking).where(_is(name)))

    def collections(self) -> tuple[str, ...]:
        query = select(tracking.c.collection).where(tracking.c.within.is_(None)).distinct()
        with self._transactions.reading() as connection:
            return tuple(sorted(connection.scalars(query)))

    def list(
        self,
        collection: str,
        *,
        where: Filter | None,
        limit: int,
        after: str | None,
        oldest_first: bool = False,
    ) -> Page[Resource]:
        position = None if after is None else Position.parse(after)
        if not storable(collection):
            return Page((), None)
        query = select(tracking).where(tracking.c.collection == collection)
        for link in required_links(where):
            query = query.where(tracking.c.name.in_(linked_names(link)))
        with self._transactions.snapshot() as connection:
            linked = {
                link: frozenset(connection.scalars(linked_names(link)))
                for link in (() if where is None else leaves(where))
                if isinstance(link, LinkedTo)
            }
            rows = rows_behind(connection, tracking, query, position, oldest_first=oldest_first)
            every = map(resource_of, rows)
            found = (each for each in every if where is None or matches(where, each, linked))
            return first_page(found, limit, position_by_name)


def _write(connection: Connection, changed: Sequence[Resource]) -> None:
    for resource in changed:
        check_version(connection, tracking, resource.name, resource.version - 1)
        try:
            values = resource_values(resource)
            connection.execute(update(tracking).where(_is(resource.name)).values(values))
        except IntegrityError as error:
            raise _taken(resource) from error


def _check_free(connection: Connection, new: Sequence[Resource]) -> None:
    """Checks that the names are unused, and that the containing resources exist.

    Raises AlreadyExists, NotFound.
    """
    own = {str(each.name) for each in new}
    outer = {str(each.name.outer) for each in new if each.name.outer is not None} - own
    taken = _existing(connection, own)
    missing = sorted(outer - _existing(connection, outer))
    if missing:
        raise NotFound(f"{missing[0]} does not exist")
    for resource in new:
        if str(resource.name) in taken:
            raise AlreadyExists(f"{resource.name} already exists")


def _existing(connection: Connection, names: set[str]) -> set[str]:
    return {
        name
        for some in batches(sorted(names))
        for name in connection.scalars(select(tracking.c.name).where(tracking.c.name.in_(some)))
    }


def _taken(resource: Resource) -> AlreadyExists:
    """Makes the error that another resource has this name, or its unique key."""
    key = resource.unique_key
    also = "" if key is None else f", or another resource has the same key {key!r:.200}"
    return AlreadyExists(f"{resource.name} already exists{also}")


def _is(name: TrackingName) -> ColumnElement[bool]:
    return tracking.c.name == str(name)
