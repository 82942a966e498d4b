"""Stores jobs, events, studies and quotas in SQL: SQLite and PostgreSQL.

Rows and their columns are known in this package only.
"""

from __future__ import annotations

from footplate.store.database_setup import open_store
from footplate.store.jobs import SqlStore
from footplate.store.observed_store import ObservedStore

__all__ = ["ObservedStore", "SqlStore", "open_store"]
