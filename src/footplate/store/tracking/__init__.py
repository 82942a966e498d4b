"""The tracking port over SQL: a row for each resource, link and point."""

from footplate.store.tracking.resources import SqlTracking

__all__ = ["SqlTracking"]
