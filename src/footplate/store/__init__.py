"""Jobs with their events, studies and quotas in SQL: SQLite and PostgreSQL.

Rows and their columns are known in this package only.
"""

from __future__ import annotations

from footplate.store.jobs import SqlStore
from footplate.store.opening import open_store
from footplate.store.telling import TellingStore

__all__ = ["SqlStore", "TellingStore", "open_store"]
