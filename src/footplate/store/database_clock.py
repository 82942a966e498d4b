"""PostgreSQL's clock, shared by all servers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import text

if TYPE_CHECKING:
    from sqlalchemy import Connection

MICROS = 1_000_000
_NOW = text("SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint")


def now_micros(connection: Connection) -> int:
    return int(connection.scalar(_NOW) or 0)
