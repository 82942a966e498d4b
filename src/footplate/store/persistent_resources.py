"""The port of persistent resources over SQL: a row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from footplate.domain.errors import AlreadyExists, DataLoss, NotFound
from footplate.domain.names import PersistentResourceName, parse_persistent_resource_name
from footplate.domain.persistent_resources import PersistentResource
from footplate.domain.text_validation import storable
from footplate.domain.timestamps import from_micros, to_micros
from footplate.ports.notifications import NoticeKind
from footplate.ports.pages import Page
from footplate.store.documents import ResourceBody, read, write
from footplate.store.named_rows import check_version, position_by_name, rows_behind, unknown
from footplate.store.paging import Position, first_page
from footplate.store.row_codec import Values
from footplate.store.tables import persistent_resources as table
from footplate.store.transactions import Transactions

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from footplate.store.row_codec import Record


class SqlPersistentResources:
    """Stores persistent resources in SQL; any number of threads and servers may use it at once."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def create(self, resource: PersistentResource) -> None:
        with self._transactions.writing() as connection:
            try:
                connection.execute(insert(table).values(_values(resource)))
            except IntegrityError as error:
                raise AlreadyExists(f"{resource.name} already exists") from error
            self._notify(connection, resource.name)

    def get(self, name: PersistentResourceName) -> PersistentResource:
        row = None
        if storable(str(name)):
            with self._transactions.reading() as connection:
                query = select(table).where(table.c.name == str(name))
                row = connection.execute(query).one_or_none()
        if row is None:
            raise unknown(name)
        return _resource(row)

    def write(self, resource: PersistentResource) -> None:
        with self._transactions.writing() as connection:
            check_version(connection, table, resource.name, resource.version - 1)
            here = table.c.name == str(resource.name)
            connection.execute(update(table).where(here).values(_values(resource)))
            self._notify(connection, resource.name)

    def delete(self, resource: PersistentResource) -> None:
        with self._transactions.writing() as connection:
            check_version(connection, table, resource.name, resource.version)
            connection.execute(delete(table).where(table.c.name == str(resource.name)))
            self._notify(connection, resource.name)

    def list(self, collection: str, *, limit: int, after: str | None) -> Page[PersistentResource]:
        position = None if after is None else Position.parse(after)
        if not storable(collection):
            return Page((), None)
        query = select(table).where(table.c.collection == collection)
        with self._transactions.snapshot() as connection:
            found = map(_resource, rows_behind(connection, table, query, position))
            return first_page(found, limit, position_by_name)

    def all(self) -> tuple[PersistentResource, ...]:
        query = select(table).order_by(table.c.create_time, table.c.name)
        with self._transactions.reading() as connection:
            return tuple(_resource(row) for row in connection.execute(query).all())

    def _notify(self, connection: Connection, name: PersistentResourceName) -> None:
        self._transactions.tell(connection, NoticeKind.PERSISTENT_RESOURCE, str(name))


def _values(resource: PersistentResource) -> Values:
    body = {name: getattr(resource, name) for name in ResourceBody.__dataclass_fields__}
    return {
        "name": str(resource.name),
        "collection": resource.name.collection,
        "create_time": to_micros(resource.create_time),
        "version": resource.version,
        "body": write(ResourceBody(**body)),
    }


def _resource(row: Record) -> PersistentResource:
    """Makes a persistent resource from a row.

    Raises DataLoss: the row is damaged, or of an unknown version.
    """
    try:
        body = read(ResourceBody, row.body)
        return PersistentResource(
            name=parse_persistent_resource_name(row.name),
            create_time=from_micros(row.create_time),
            version=row.version,
            **vars(body),
        )
    except (KeyError, TypeError, ValueError, OverflowError, NotFound) as error:
        raise DataLoss(f"the stored record of {row.name} can't be read: {error}") from error
