"""Appends and reads the events of a job."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from sqlalchemy import Integer, bindparam, func, insert, select

from footplate.domain.jobs import JobEvent
from footplate.domain.names import JobUid
from footplate.ports.store import StoredEvent
from footplate.store import row_codec
from footplate.store.tables import job_events

if TYPE_CHECKING:
    from sqlalchemy import Connection

_KEYS_AT_ONCE = 500
"""Both engines bound the number of a statement's parameters, SQLite at 32,766."""

_OF = job_events.c.job_uid == bindparam("uid")
_LAST = select(func.max(job_events.c.number)).where(_OF)
_KNOWN = select(job_events.c.key).where(
    _OF, job_events.c.key.in_(bindparam("keys", expanding=True))
)
_AFTER = (
    select(job_events)
    .where(_OF, job_events.c.number > bindparam("after"))
    .order_by(job_events.c.number)
    .limit(bindparam("limit", type_=Integer))
)
_INSERT = insert(job_events)
"""Put together once: that takes as long as the rest."""


def append_events(connection: Connection, uid: JobUid, events: Sequence[JobEvent]) -> None:
    """Appends events, numbered after the last one; skips those whose key exists already."""
    fresh = list(_fresh(connection, uid, events))
    if not fresh:
        return
    last = connection.scalar(_LAST, {"uid": uid}) or 0
    rows = [
        row_codec.event_values(uid, last + index, event) for index, event in enumerate(fresh, 1)
    ]
    connection.execute(_INSERT, rows)


def select_events(
    connection: Connection, uid: JobUid, after: int, limit: int
) -> tuple[StoredEvent, ...]:
    rows = connection.execute(_AFTER, {"uid": uid, "after": after, "limit": limit})
    return tuple(row_codec.event_of(row) for row in rows)


def _fresh(connection: Connection, uid: JobUid, events: Sequence[JobEvent]) -> Iterator[JobEvent]:
    known = _known_keys(connection, uid, [event.key for event in events if event.key is not None])
    for event in events:
        if event.key is None:
            yield event
        elif event.key not in known:
            known.add(event.key)
            yield event


def _known_keys(connection: Connection, uid: JobUid, keys: list[str]) -> set[str]:
    known: set[str] = set()
    for start in range(0, len(keys), _KEYS_AT_ONCE):
        asked = keys[start : start + _KEYS_AT_ONCE]
        found = connection.scalars(_KNOWN, {"uid": uid, "keys": asked})
        known.update(key for key in found if key is not None)
    return known
