"""Stores resources of metadata stores and TensorBoards, which stand within each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from footplate.domain.errors import AlreadyExists, NotFound
from footplate.domain.filters import leaves
from footplate.domain.text_validation import storable
from footplate.domain.tracking.filters import LinkedTo, matches, required_links
from footplate.ports.pages import Page
from footplate.store.named_rows import check_version, position_by_name, rows_behind, unknown
from footplate.store.paging import Position, first_page
from footplate.store.tables import tracking
from footplate.store.tracking.links import SqlLinks, linked_names
from footplate.store.tracking.points import SqlPoints
from footplate.store.tracking.rows import batches, resource_of, resource_values

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy import ColumnElement, Connection

    from footplate.domain.tracking.filters import Filter
    from footplate.domain.tracking.names import TrackingName
    from footplate.domain.tracking.resources import Resource
    from footplate.store.transactions import Transactions


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
