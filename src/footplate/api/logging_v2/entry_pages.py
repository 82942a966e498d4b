"""One page of the entries of a job that match a query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from footplate.domain.log_lines import belongs
from footplate.wire.logging_v2.entries import encode_entry
from footplate.wire.logging_v2.matching import matches
from footplate.wire.logging_v2.scope import Span, span

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.domain.jobs import Job
    from footplate.domain.log_lines import Entry
    from footplate.domain.names import JobUid
    from footplate.ports.logs import Logs
    from footplate.wire.json_text import JsonObject
    from footplate.wire.logging_v2.queries import Query

MAX_LOOKED_AT = 20_000
"""Entries in one call; a page may come with fewer matches than asked for, even with none, and
then says where to go on. So no call takes long."""
MAX_PAGE_BYTES = 8 << 20
_READ = 1000
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True)
class EntryPage:
    """``next_cursor`` continues after the last entry; None: there are no more entries."""

    entries: tuple[JsonObject, ...]
    next_cursor: int | None


@dataclass(frozen=True)
class Listing:
    """Which entries, in which order, and how many of them at once."""

    query: Query
    descending: bool
    limit: int


def read_page(logs: Logs, job: Job, listing: Listing, after: int | None) -> EntryPage:
    """The page that begins behind the entry with the cursor ``after``."""
    bounds = span(listing.query)
    if listing.descending:
        entries = _descending(logs, job.log, bounds, after)
    else:
        entries = _ascending(logs, job.log, bounds, after)
    found: list[JsonObject] = []
    looked_at, size_bytes = 0, 0
    for entry in entries:
        if (
            len(found) >= listing.limit
            or looked_at >= MAX_LOOKED_AT
            or size_bytes >= MAX_PAGE_BYTES
        ):
            return EntryPage(tuple(found), after)
        if (document := _wanted(entry, job, listing.query)) is not None:
            found.append(document)
            size_bytes += len(entry.line.message) + len(entry.line.payload)
        looked_at, after = looked_at + 1, entry.cursor
    return EntryPage(tuple(found), None)


def _wanted(entry: Entry, job: Job, query: Query) -> JsonObject | None:
    """The entry as it is answered, if it is one of the job's and matches."""
    if not belongs(entry, job):
        return None
    document = encode_entry(entry, job.name)
    return document if matches(query, entry, document) else None


def _ascending(logs: Logs, uid: JobUid, bounds: Span, after: int | None) -> Iterator[Entry]:
    cursor = after
    if cursor is None:
        cursor = logs.seek(uid, bounds.first) if bounds.first is not None else 0
    while (reading := logs.read(uid, cursor, _READ)).entries:
        for entry in reading.entries:
            if bounds.last is not None and entry.timestamp > bounds.last:
                return
            yield entry
        cursor = reading.cursor


def _descending(logs: Logs, uid: JobUid, bounds: Span, after: int | None) -> Iterator[Entry]:
    cursor = after
    if cursor is None and bounds.last is not None:
        cursor = logs.seek(uid, bounds.last + _TICK)
    while (reading := logs.read_back(uid, cursor, _READ)).entries:
        for entry in reading.entries:
            if bounds.first is not None and entry.timestamp < bounds.first:
                return
            if entry.cursor != after:  # reading back begins with the entry before its cursor
                yield entry
        cursor = reading.cursor
