"""Logs in memory, for tests of what stands above them."""

from __future__ import annotations

import threading
from bisect import bisect_left
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Unavailable
from footplate.domain.log_lines import EVERYTHING
from footplate.ports.logs import Entry, Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from footplate.domain.log_lines import Screen
    from footplate.domain.names import JobUid
    from footplate.ports.logs import Line

_TICK = timedelta(microseconds=1)
_Writer = tuple[int, str, str, str]


class MemoryLogs:
    """A cursor is a count of entries. While ``full`` is true nothing more is kept."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._entries: dict[JobUid, list[Entry]] = {}
        self._watchers: dict[JobUid, list[Callable[[], None]]] = {}
        self._lock = threading.Lock()
        self.full = False

    def append(
        self, uid: JobUid, attempt: int, replica: str, lines: Sequence[Line], trial: str = ""
    ) -> None:
        if self.full:
            raise Unavailable("the server can't store log lines: the disk is full")
        with self._lock:
            for line in lines:
                self._keep(self._entries.setdefault(uid, []), (attempt, replica, trial, ""), line)
        self.wake(uid)

    def write(
        self,
        uid: JobUid,
        attempt: int,
        replica: str,
        lines: Sequence[Line],
        trial: str = "",
        above: int = 0,
    ) -> None:
        if self.full:
            raise Unavailable("the server can't store log lines: the disk is full")
        with self._lock:
            entries = self._entries.setdefault(uid, [])
            for line in lines:
                writer = (attempt, replica, trial, line.log)
                own = [each.line.sequence for each in entries if _writer(each) == writer]
                numbered = replace(line, sequence=max(above, *own, 0) + 1)
                self._keep(entries, writer, numbered)
        self.wake(uid)

    def _keep(self, entries: list[Entry], writer: _Writer, line: Line) -> None:
        own = [entry for entry in entries if _writer(entry) == writer]
        if own and own[-1].line.sequence >= line.sequence:
            return
        number, timestamp = len(entries), self._now()
        if entries:
            timestamp = max(timestamp, entries[-1].timestamp + _TICK)
        attempt, replica, trial, _ = writer
        insert_id = f"{number:016x}"
        entries.append(Entry(timestamp, insert_id, attempt, replica, line, number + 1, trial))

    def read(
        self, uid: JobUid, cursor: int = 0, limit: int = 1000, screen: Screen = EVERYTHING
    ) -> Reading:
        rest = self._after(uid, cursor)
        taken = [(at, entry) for at, entry in enumerate(rest, 1) if screen.takes(entry)][:limit]
        further = taken[-1][0] if len(taken) == limit else len(rest)
        return Reading(tuple(entry for _, entry in taken), cursor + further)

    def read_back(
        self,
        uid: JobUid,
        cursor: int | None = None,
        limit: int = 1000,
        screen: Screen = EVERYTHING,
    ) -> Reading:
        cursor = len(self._entries.get(uid, ())) if cursor is None else cursor
        self._after(uid, cursor)
        rest = self._entries.get(uid, [])[:cursor][::-1]
        taken = [(at, entry) for at, entry in enumerate(rest, 1) if screen.takes(entry)][:limit]
        further = taken[-1][0] if len(taken) == limit else len(rest)
        return Reading(tuple(entry for _, entry in taken), cursor - further)

    def _after(self, uid: JobUid, cursor: int) -> list[Entry]:
        entries = self._entries.get(uid, [])
        if not 0 <= cursor <= len(entries):
            raise InvalidArgument(
                f"cursor: {cursor} given; allowed: a cursor that the server returned"
            )
        return entries[cursor:]

    def size(self, uid: JobUid) -> int:
        return len(self._entries.get(uid, ()))

    def align(self, uid: JobUid, position: int) -> int:
        return min(max(position, 0), self.size(uid))

    def seek(self, uid: JobUid, time: datetime) -> int:
        return bisect_left(self._entries.get(uid, []), time, key=lambda entry: entry.timestamp)

    def span(self, uid: JobUid) -> tuple[datetime, datetime] | None:
        entries = self._entries.get(uid)
        return (entries[0].timestamp, entries[-1].timestamp) if entries else None

    def names(self, uid: JobUid) -> frozenset[str]:
        return frozenset(entry.line.log or entry.replica for entry in self._entries.get(uid, ()))

    def watch(self, uid: JobUid, changed: Callable[[], None]) -> Callable[[], None]:
        watchers = self._watchers.setdefault(uid, [])
        watchers.append(changed)
        return lambda: watchers.remove(changed)

    def wake(self, uid: JobUid) -> None:
        for changed in tuple(self._watchers.get(uid, ())):
            changed()

    def tail(
        self, uid: JobUid, attempt: int, replica: str, count: int, trial: str = "", log: str = ""
    ) -> tuple[Entry, ...]:
        entries = self._entries.get(uid, [])
        own = [entry for entry in entries if _writer(entry) == (attempt, replica, trial, log)]
        return tuple(own[max(0, len(own) - count) :])

    def delete(self, uid: JobUid) -> None:
        self._entries.pop(uid, None)

    def close(self) -> None:
        """Nothing to give back."""


def _writer(entry: Entry) -> _Writer:
    return entry.attempt, entry.replica, entry.trial, entry.line.log
