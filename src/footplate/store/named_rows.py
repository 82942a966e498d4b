"""The functions that tables share whose rows are resources with a name and a version."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from sqlalchemy import select, tuple_

from footplate.domain.errors import Aborted, NotFound
from footplate.domain.persistent_resources import PersistentResource
from footplate.domain.text_validation import storable
from footplate.domain.timestamps import to_micros
from footplate.domain.tracking.resources import Resource
from footplate.store.paging import Position

if TYPE_CHECKING:
    from sqlalchemy import Connection, Select, Table

    from footplate.store.row_codec import Record

_BATCH = 200


def check_version(connection: Connection, table: Table, name: object, version: int | None) -> None:
    """Locks the row of ``name``, and checks its version; None: any version will do.

    Raises NotFound; Aborted: another writer has changed the version.
    """
    query = select(table.c.version).where(table.c.name == str(name)).with_for_update()
    stored = connection.scalar(query)
    if stored is None:
        raise unknown(name)
    if version is not None and stored != version:
        raise Aborted(f"{name} has changed: it is at version {stored}, not {version}")


def unknown(name: object) -> NotFound:
    text = str(name)
    return NotFound(f"{text if storable(text) else ascii(text)} does not exist")


def position_by_name(record: Resource | PersistentResource) -> Position:
    return Position(to_micros(record.create_time), str(record.name))


def rows_behind(
    connection: Connection,
    table: Table,
    query: Select[tuple[object, ...]],
    position: Position | None,
    *,
    oldest_first: bool = False,
) -> Iterator[Record]:
    """Yields the rows of a list behind ``position``, read in batches; the newest come first."""
    columns = (table.c.create_time, table.c.name)
    order = columns if oldest_first else [column.desc() for column in columns]
    query = query.order_by(*order).limit(_BATCH)
    while True:
        batch = query
        if position is not None:
            here, place = tuple_(position.create_time, position.uid), tuple_(*columns)
            batch = query.where(here < place if oldest_first else here > place)
        rows = connection.execute(batch).all()
        yield from rows
        if len(rows) < _BATCH:
            return
        position = Position(rows[-1].create_time, rows[-1].name)
