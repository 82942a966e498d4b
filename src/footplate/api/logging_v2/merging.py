"""Merges the entries of several logs in the order of their timestamps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.names import JobUid
from footplate.wire.logging_v2.scope import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from footplate.domain.jobs import Job
    from footplate.domain.log_lines import Entry
    from footplate.ports.logs import Logs

_READ = 1000
_TICK = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POSITION = re.compile(r"([0-9]{1,18})\.([A-Za-z0-9_-]{1,128})")


@dataclass(frozen=True, order=True)
class Position:
    """An entry's position in the merged logs. Within a log all timestamps differ."""

    timestamp: datetime
    uid: JobUid

    def __str__(self) -> str:
        return f"{(self.timestamp - _EPOCH) // _TICK}.{self.uid}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Returns the position that ``text`` stands for. Raises InvalidArgument."""
        if match := _POSITION.fullmatch(text):
            try:
                return cls(_EPOCH + int(match[1]) * _TICK, JobUid(match[2]))
            except OverflowError:
                pass
        raise InvalidArgument.of(
            (
                Violation(
                    "pageToken",
                    (
                        "the service never returned this token; use nextPageToken of an earlier "
                        "answer"
                    ),
                ),
            )
        )


@dataclass(frozen=True)
class Found:
    """A found entry. ``job`` is the job whose log was read, perhaps a trial's run."""

    position: Position
    job: Job
    entry: Entry


def merge_logs(
    logs: Logs, jobs: Iterable[Job], bounds: Span, after: Position | None, *, descending: bool
) -> Iterator[Found]:
    """Yields the entries of the jobs' logs within ``bounds`` and after ``after``, in the requested
    order.

    Opens a log only when its first entry may be next, so few of many logs are open at once.
    """
    if after is not None:
        bounds = _narrowed(bounds, after, descending=descending)
    waiting = _find_ends(logs, jobs, bounds, descending=descending)
    waiting.sort(key=lambda pair: (pair[0], pair[1].uid), reverse=not descending)
    sign = -1 if descending else 1
    open_logs: list[tuple[int, JobUid, Found, Iterator[Found]]] = []

    def push(found: Iterator[Found]) -> None:
        if (first := next(found, None)) is not None:
            key = sign * ((first.position.timestamp - _EPOCH) // _TICK)
            heappush(open_logs, (key, first.position.uid, first, found))

    while open_logs or waiting:
        while waiting and (not open_logs or not _is_later(waiting[-1][0], open_logs[0][2], sign)):
            push(_read(logs, waiting.pop()[1], bounds, after, descending=descending))
        if open_logs:
            *_, first, found = heappop(open_logs)
            yield first
            push(found)


def _is_later(time: datetime, found: Found, sign: int) -> bool:
    """Returns whether a log that begins at ``time`` has no entry before ``found``."""
    return time > found.position.timestamp if sign > 0 else time < found.position.timestamp


def _narrowed(bounds: Span, after: Position, *, descending: bool) -> Span:
    if descending:
        last = after.timestamp if bounds.last is None else min(bounds.last, after.timestamp)
        return Span(bounds.first, last)
    first = after.timestamp if bounds.first is None else max(bounds.first, after.timestamp)
    return Span(first, bounds.last)


def _find_ends(
    logs: Logs, jobs: Iterable[Job], bounds: Span, *, descending: bool
) -> list[tuple[datetime, Job]]:
    """Returns each log with entries within ``bounds``, with the time of the entry to read first."""
    found = []
    for job in jobs:
        span = logs.span(job.log)
        if span is None:
            continue
        first = span[0] if bounds.first is None else max(span[0], bounds.first)
        last = span[1] if bounds.last is None else min(span[1], bounds.last)
        if first <= last:
            found.append((last if descending else first, job))
    return found


def _read(
    logs: Logs, job: Job, bounds: Span, after: Position | None, *, descending: bool
) -> Iterator[Found]:
    entries = (_descending if descending else _ascending)(logs, job.log, bounds)
    for entry in entries:
        position = Position(entry.timestamp, job.uid)
        if after is None or _is_behind(position, after, descending=descending):
            yield Found(position, job, entry)


def _is_behind(position: Position, after: Position, *, descending: bool) -> bool:
    """Returns whether ``position`` comes after ``after``; equal timestamps are sorted by uid."""
    if position.timestamp == after.timestamp:
        return position.uid > after.uid
    return (position.timestamp < after.timestamp) == descending


def _ascending(logs: Logs, uid: JobUid, bounds: Span) -> Iterator[Entry]:
    cursor = 0 if bounds.first is None else logs.seek(uid, bounds.first)
    while (reading := logs.read(uid, cursor, _READ)).entries:
        for entry in reading.entries:
            if bounds.last is not None and entry.timestamp > bounds.last:
                return
            yield entry
        cursor = reading.cursor


def _descending(logs: Logs, uid: JobUid, bounds: Span) -> Iterator[Entry]:
    cursor = None if bounds.last is None else logs.seek(uid, bounds.last + _TICK)
    while (reading := logs.read_back(uid, cursor, _READ)).entries:
        for entry in reading.entries:
            if bounds.first is not None and entry.timestamp < bounds.first:
                return
            yield entry
        cursor = reading.cursor
