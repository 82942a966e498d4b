"""Jobs and their events in SQL: SQLite and PostgreSQL.

Rows and their columns are known in this package only.
"""

from __future__ import annotations

from footplate.store.jobs import SqlStore
from footplate.store.opening import open_store

__all__ = ["SqlStore", "open_store"]
