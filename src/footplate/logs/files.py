"""Log storage: an append-only file for each job.

What survives. An append is one ``write`` to the file, and returns after it: from then on the
lines are the kernel's, and outlive this process, whatever kills it. They aren't forced to the
disk: an ``fsync`` for each report would cost every job milliseconds per second and wear the disk
out, to save the last moments of programs that die with the machine anyway. So when the *machine*
loses its power, lines of about the last half minute (the kernel's writeback time) may be lost
from the end of the files; the next opening cuts off what is torn, and everything before stays.

What it costs. A file that isn't open costs nothing, an open one a descriptor and a few numbers
per replica; no more than ``open_files`` are open at rest. Opening reads back to the last
checkpoint, about a MiB, however large the file.
"""

from __future__ import annotations

import os
import re
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import groupby
from pathlib import Path

from footplate.domain.errors import InvalidArgument, Unavailable
from footplate.domain.log_lines import EVERYTHING, Entry, Line, Reading, Screen
from footplate.domain.names import JobUid
from footplate.logs import lines, log_records
from footplate.logs.journal import Journal
from footplate.logs.log_limit import LogLimit
from footplate.logs.log_records import Writer
from footplate.logs.watchers import Watchers

POLL_INTERVAL_S = 0.15
"""Between two looks at the sizes. A notice for each append would cost the database too much."""


class FileWatcher:
    """Watches the files of jobs that have followers, and is idle without any.

    ``size`` returns the size of a job's file; 0: no file.
    """

    def __init__(
        self,
        size: Callable[[JobUid], int],
        grown: Callable[[JobUid], None],
        elsewhere: Callable[[], bool],
        look_s: float = POLL_INTERVAL_S,
    ) -> None:
        """Prepares the watcher; ``grown`` is called with a job whose file has grown."""
        self._size = size
        self._grown = grown
        self._elsewhere = elsewhere
        self._look_s = look_s
        self._lock = threading.Lock()
        self._followed: Counter[JobUid] = Counter()
        self._sizes: dict[JobUid, int] = {}
        self._wanted = threading.Event()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None

    def watch(self, uid: JobUid, remove: Callable[[], None]) -> Callable[[], None]:
        """Watches the job's file; returns a function that ends this, and calls ``remove``."""
        with self._lock:
            self._followed[uid] += 1
            # Followers read only after this: they need no notification of what they read.
            self._sizes.setdefault(uid, self._size(uid))
            if self._thread is None and not self._closed.is_set():
                self._thread = threading.Thread(target=self._run, name="growth", daemon=True)
                self._thread.start()
        self._wanted.set()

        def leave() -> None:
            remove()
            with self._lock:
                self._followed[uid] -= 1
                if not self._followed[uid]:
                    del self._followed[uid], self._sizes[uid]
                if not self._followed:
                    self._wanted.clear()

        return leave

    def close(self) -> None:
        self._closed.set()
        # The thread may be waiting for a follower.
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()

    def _run(self) -> None:
        while not self._closed.wait(self._look_s):
            self._wanted.wait()
            if self._elsewhere():
                for uid in self._inspect():
                    self._grown(uid)

    def _inspect(self) -> list[JobUid]:
        """Returns jobs whose logs have grown since the last time."""
        with self._lock:
            found = {uid: self._size(uid) for uid in self._sizes}
            grown = [uid for uid, size in found.items() if size != self._sizes[uid]]
            self._sizes.update(found)
        return grown


_UID = re.compile(r"[A-Za-z0-9_-]{1,128}")


class _Slot:
    """A job's place among the open files.

    Its descriptor stays open while it has ``users``; a caller that gets a ``retired`` slot asks for
    another.
    """

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.journal: Journal | None = None
        self.users = 0
        self.retired = False

    def close(self) -> None:
        if self.journal is not None:
            self.journal.close()
            self.journal = None


class FileLogs:
    """The logs in ``directory``, to which several processes may write."""

    def __init__(
        self,
        directory: Path,
        now: Callable[[], datetime],
        open_files: int = 128,
        elsewhere: Callable[[], bool] | None = None,
        limit_bytes: int = 0,
    ) -> None:
        """Prepares the directory.

        ``elsewhere`` returns whether other processes may append now; None: there are none.
        ``limit_bytes`` limits the log of each job; 0: no limit.
        """
        self._directory = directory
        self._make_directory()
        self._now = now
        self._open_files = open_files
        self._limit_bytes = limit_bytes
        self._limits: dict[JobUid, LogLimit] = {}
        self._lock = threading.Lock()
        self._slots: OrderedDict[JobUid, _Slot] = OrderedDict()
        self._watchers = Watchers()
        self._growth = None if elsewhere is None else FileWatcher(self._size, self.wake, elsewhere)
        self._closed = False

    def append(
        self, uid: JobUid, attempt: int, replica: str, lines: Sequence[Line], trial: str = ""
    ) -> None:
        with self._held(uid) as slot:
            try:
                journal = self._opened(uid, slot, create=True)
                writer, now = Writer(attempt, replica, trial), self._now()
                if 0 < self._limit_bytes <= journal.size:
                    limit = self._limits.setdefault(uid, LogLimit(self._limit_bytes))
                    lines = limit.count(writer, lines, journal.last_sequence(writer), now)
                grown = journal.append(writer, lines, now)
            except OSError as error:
                # Where a torn write couldn't be taken back, the next opening does it.
                self._retire(uid, slot)
                raise _unavailable(error) from error
        if grown:
            self._watchers.wake(uid)

    def write(
        self,
        uid: JobUid,
        attempt: int,
        replica: str,
        lines: Sequence[Line],
        trial: str = "",
        above: int = 0,
    ) -> None:
        with self._held(uid) as slot:
            try:
                journal = self._opened(uid, slot, create=True)
                for log, group in groupby(lines, key=lambda line: line.log):
                    self._write(uid, journal, Writer(attempt, replica, trial, log), [*group], above)
            except OSError as error:
                self._retire(uid, slot)
                raise _unavailable(error) from error
        self._watchers.wake(uid)

    def _write(
        self, uid: JobUid, journal: Journal, writer: Writer, lines: Sequence[Line], above: int
    ) -> None:
        journal.check_log(writer)
        now = self._now()
        if not 0 < self._limit_bytes <= journal.size:
            journal.append(writer, lines, now, above)
            return
        limit = self._limits.setdefault(uid, LogLimit(self._limit_bytes))
        last = journal.last_sequence(writer)
        above = max(above, last, limit.last(writer))
        numbered = [replace(line, sequence=above + n) for n, line in enumerate(lines, 1)]
        journal.append(writer, limit.count(writer, numbered, last, now), now)

    def read(
        self, uid: JobUid, cursor: int = 0, limit: int = 1000, screen: Screen = EVERYTHING
    ) -> Reading:
        with self._journal(uid) as journal:
            if journal is None:
                return _nothing(cursor)
            return journal.read(cursor, limit, screen)

    def read_back(
        self,
        uid: JobUid,
        cursor: int | None = None,
        limit: int = 1000,
        screen: Screen = EVERYTHING,
    ) -> Reading:
        with self._journal(uid) as journal:
            if journal is None:
                return _nothing(cursor or 0)
            return journal.read_back(cursor, limit, screen)

    def size(self, uid: JobUid) -> int:
        with self._journal(uid) as journal:
            return 0 if journal is None else journal.whole_size()

    def align(self, uid: JobUid, position: int) -> int:
        with self._journal(uid) as journal:
            return 0 if journal is None else journal.align(position)

    def seek(self, uid: JobUid, time: datetime) -> int:
        with self._journal(uid) as journal:
            return 0 if journal is None else journal.seek(time)

    def span(self, uid: JobUid) -> tuple[datetime, datetime] | None:
        """Returns the times of a log's first and last entry, without opening a journal."""
        try:
            descriptor = os.open(self._path(uid), os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            raise _unavailable(error) from error
        try:
            end = lines.last_newline(descriptor, os.fstat(descriptor).st_size)
            first = _first_timestamp(lines.lines_after(descriptor, 0, end))
            last = _first_timestamp(lines.lines_before(descriptor, end))
        finally:
            os.close(descriptor)
        return None if first is None or last is None else (first, last)

    def names(self, uid: JobUid) -> frozenset[str]:
        with self._journal(uid) as journal:
            return frozenset() if journal is None else journal.names()

    def tail(
        self, uid: JobUid, attempt: int, replica: str, count: int, trial: str = "", log: str = ""
    ) -> tuple[Entry, ...]:
        with self._journal(uid) as journal:
            writer = Writer(attempt, replica, trial, log)
            return () if journal is None else journal.tail(writer, count)

    def watch(self, uid: JobUid, changed: Callable[[], None]) -> Callable[[], None]:
        remove = self._watchers.add(uid, changed)
        return remove if self._growth is None else self._growth.watch(uid, remove)

    def _size(self, uid: JobUid) -> int:
        try:
            return self._path(uid).stat().st_size
        except OSError:  # it is looked at again
            return 0

    def wake(self, uid: JobUid) -> None:
        self._watchers.wake(uid)

    def wake_all(self) -> None:
        """Wakes all followers of all jobs, so that they read again."""
        self._watchers.wake_all()

    def delete(self, uid: JobUid) -> None:
        with self._held(uid) as slot:
            self._path(uid).unlink(missing_ok=True)
            self._limits.pop(uid, None)
            # The next append opens a new file: this descriptor is of one that has no name any more.
            self._retire(uid, slot)

    def close(self) -> None:
        """Closes the logs: waiting followers end; reads in progress are completed."""
        with self._lock:
            self._closed = True
            self._trim(0)
        if self._growth is not None:
            self._growth.close()
        self._watchers.wake_all()

    def _make_directory(self) -> None:
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)

    def _path(self, uid: JobUid) -> Path:
        if not _UID.fullmatch(uid):
            raise InvalidArgument(f"{uid!r} is not the uid of a job")
        return self._directory / f"{uid}.jsonl"

    @contextmanager
    def _journal(self, uid: JobUid) -> Iterator[Journal | None]:
        """Yields the journal for reading, without creating a file; None: the job has no lines."""
        with self._slot(uid) as slot:
            with slot.lock:
                try:
                    journal = None if slot.retired else self._opened(uid, slot, create=False)
                except FileNotFoundError:
                    journal = None
                except OSError as error:
                    raise _unavailable(error) from error
            yield journal

    @contextmanager
    def _held(self, uid: JobUid) -> Iterator[_Slot]:
        """Yields the job's slot, to one thread at a time."""
        while True:
            with self._slot(uid) as slot, slot.lock:
                if not slot.retired:
                    yield slot
                    return

    @contextmanager
    def _slot(self, uid: JobUid) -> Iterator[_Slot]:
        with self._lock:
            slot = self._slots.setdefault(uid, _Slot())
            self._slots.move_to_end(uid)
            slot.users += 1
        try:
            yield slot
        finally:
            with self._lock:
                slot.users -= 1
                if slot.retired and not slot.users:
                    slot.close()
                self._trim(0 if self._closed else self._open_files)

    def _retire(self, uid: JobUid, slot: _Slot) -> None:
        with self._lock:
            slot.retired = True
            self._slots.pop(uid, None)

    def _opened(self, uid: JobUid, slot: _Slot, *, create: bool) -> Journal:
        """Returns the slot's journal, and opens it if necessary; the slot's lock must be held."""
        if slot.journal is None:
            if create:  # the directory may have been deleted to free space
                self._make_directory()
            slot.journal = Journal(self._path(uid), create=create)
        return slot.journal

    def _trim(self, allowed: int) -> None:
        """Closes the files that were used longest ago, except those in use."""
        excess = len(self._slots) - allowed
        if excess > 0:
            idle = [uid for uid, slot in self._slots.items() if not slot.users]
            for uid in idle[:excess]:
                self._slots.pop(uid).close()


def _first_timestamp(found: Iterable[tuple[int, bytes]]) -> datetime | None:
    """Returns the timestamp of the first entry among the lines; None: there is no entry."""
    spelled = (log_records.spelled_timestamp(text) for _, text in found)
    return next((datetime.fromisoformat(each.decode()) for each in spelled if each), None)


def _unavailable(error: OSError) -> Unavailable:
    return Unavailable(f"the server can't read or write the log of this job: {error.strerror}")


def _nothing(cursor: int) -> Reading:
    if cursor:
        raise InvalidArgument(f"cursor: {cursor} given; the log of this job has no lines")
    return Reading((), 0)
