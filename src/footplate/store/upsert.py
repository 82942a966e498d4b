"""Inserts a row or updates the existing one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from sqlalchemy.dialects import postgresql, sqlite

if TYPE_CHECKING:
    from sqlalchemy import Connection, Table


def upsert(connection: Connection, table: Table, rows: Sequence[dict[str, Any]], *to: str) -> None:
    """Inserts rows; if a primary key exists, updates only the columns ``to`` of its row.

    The type Any is SQLAlchemy's. Of several rows with one key the last counts.
    """
    if not rows:
        return
    insert = sqlite.insert if connection.dialect.name == "sqlite" else postgresql.insert
    statement = insert(table)
    key, change = list(table.primary_key.columns), {name: statement.excluded[name] for name in to}
    connection.execute(statement.on_conflict_do_update(index_elements=key, set_=change), rows)
