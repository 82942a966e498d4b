"""The functions that tables share whose rows are resources with a name and a version."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from footplate.domain.errors import Aborted, NotFound
from footplate.domain.text_validation import storable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table


def check_version(connection: Connection, table: Table, name: object, version: int | None) -> None:
    """Locks the row of ``name``; None: any version will do.

    Raises NotFound; Aborted: another has written it.
    """
    query = select(table.c.version).where(table.c.name == str(name)).with_for_update()
    stored = connection.scalar(query)
    if stored is None:
        raise unknown(name)
    if version is not None and stored != version:
        raise Aborted(f"{name} is at version {stored}, not {version}")


def unknown(name: object) -> NotFound:
    text = str(name)
    return NotFound(f"{text if storable(text) else ascii(text)} does not exist")
