"""The log file of one job: one writer at a time, many readers."""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from threading import Lock

from footplate.domain.errors import DataLoss, InvalidArgument, Unavailable, Violation
from footplate.domain.log_lines import EVERYTHING, Entry, Line, Reading, Screen
from footplate.file_lock import file_lock
from footplate.logs import lines, log_records
from footplate.logs.log_records import Checkpoint, LastEntry, Writer, encode_text, writer_of

CHECKPOINT_BYTES = 1 << 20
"""A checkpoint follows after this much, so that opening reads no more than about this."""
_CHECKPOINT_BYTES_PER_WRITER = 1 << 10
"""And no sooner than this, so that checkpoints of many writers don't become the bulk."""
READING_BYTES = 4 << 20
MAX_LOGS = 100
"""That the programs of a job write to over the API."""
_TICK = timedelta(microseconds=1)


class Journal:
    """The log file of a job.

    Opening it recovers: an incomplete end is removed, and the data that appending needs is read.
    Only one thread at a time may call ``append``; all other methods may be called by any thread at
    any time, as the content below ``size`` never changes. Other processes may append as well: a
    writer holds the file's lock, and first reads what others have added.
    """

    def __init__(
        self, path: Path, *, create: bool, checkpoint_bytes: int = CHECKPOINT_BYTES
    ) -> None:
        """Opens the file, or creates it.

        Raises:
            FileNotFoundError: the file doesn't exist, and ``create`` is false.
            OSError: the file can't be opened or created.
            DataLoss: the file contains something other than log lines; it stays unchanged.
        """
        self._checkpoint_bytes = checkpoint_bytes
        flags = os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | (os.O_CREAT if create else 0)
        self._fd = os.open(path, flags, 0o600)
        self._timestamp: datetime | None = None
        self._lasts: dict[Writer, LastEntry] = {}
        self._checkpoint_offset = 0
        self._lock = Lock()
        self.size = 0
        try:
            with self._locked():
                self._load()
        except BaseException:
            os.close(self._fd)
            raise

    def close(self) -> None:
        os.close(self._fd)

    def append(
        self, writer: Writer, fresh: Sequence[Line], now: datetime, above: int | None = None
    ) -> bool:
        """Stores the lines that aren't stored yet, in one write; returns False if there are none.

        ``above``: the lines have no numbers yet, and get numbers above this one and those that the
        writer has used.

        Raises:
            Unavailable: the lines can't be stored; the file is unchanged.
        """
        with self._locked():
            self._load()
            if above is not None:
                above = max(above, self.last_sequence(writer))
                fresh = [replace(line, sequence=above + n) for n, line in enumerate(fresh, 1)]
            return self._append(writer, fresh, now)

    def check_log(self, writer: Writer) -> None:
        """Checks that the job doesn't write to too many logs, as each costs memory and space.

        Raises InvalidArgument.
        """
        self._inspect()
        logs = {each.log for each in self._lasts if each.log}
        if writer.log not in logs and len(logs) >= MAX_LOGS:
            allowed = (
                f"a job can write to at most {MAX_LOGS} logs, and this job already has as many"
            )
            problem = f"{writer.log!r} given; allowed: {allowed}"
            raise InvalidArgument.of((Violation("logName", problem),))

    def last_sequence(self, writer: Writer) -> int:
        return self._lasts[writer].sequence if writer in self._lasts else 0

    def _append(self, writer: Writer, fresh: Sequence[Line], now: datetime) -> bool:
        last = self._lasts.get(writer, LastEntry(0, -1))
        sequence, previous = last.sequence, last.offset
        timestamp, parts, offset = self._timestamp, self._due_checkpoint(), self.size
        checkpointed = bool(parts)
        offset += sum(map(len, parts))
        for line in fresh:
            if line.sequence <= sequence:
                continue
            # Times only grow, whatever the clock does: ``seek`` bisects by them, and ``gcloud ...
            # stream-logs`` needs times that never decrease.
            timestamp = now if timestamp is None else max(now, timestamp + _TICK)
            parts.append(log_records.encode_record(timestamp, writer, line, previous))
            sequence, previous = line.sequence, offset
            offset += len(parts[-1])
        # No line was new, so ``previous`` is before the end. A checkpoint alone needs no write.
        if previous < self.size:
            return False
        self._write(b"".join(parts))
        if checkpointed:
            self._checkpoint_offset = self.size
        # Only after the write: one that failed has left the file as it was.
        self._timestamp, self._lasts[writer] = timestamp, LastEntry(sequence, previous)
        self.size = offset
        return True

    def read(self, cursor: int, limit: int, screen: Screen = EVERYTHING) -> Reading:
        self._inspect()
        end = self.size
        self._check(cursor, end)
        entries: list[Entry] = []
        stop, may_hold = cursor + READING_BYTES, compile_screen(screen)
        for offset, text in lines.lines_after(self._fd, cursor, end):
            cursor = offset + len(text) + 1
            _take(entries, text, offset, screen, may_hold)
            if len(entries) >= limit or (cursor >= stop and (entries or may_hold)):
                break
        return Reading(tuple(entries), cursor)

    def read_back(self, cursor: int | None, limit: int, screen: Screen = EVERYTHING) -> Reading:
        self._inspect()
        end = self.size
        cursor = end if cursor is None else cursor
        self._check(cursor, end)
        entries: list[Entry] = []
        stop, may_hold = cursor - READING_BYTES, compile_screen(screen)
        for offset, text in lines.lines_before(self._fd, cursor):
            cursor = offset
            _take(entries, text, offset, screen, may_hold)
            if len(entries) >= limit or (cursor <= stop and (entries or may_hold)):
                break
        return Reading(tuple(entries), cursor)

    def whole_size(self) -> int:
        self._inspect()
        return self.size

    def align(self, position: int) -> int:
        self._inspect()
        end = self.size
        return lines.line_start(self._fd, min(max(position, 0), end), end)

    def seek(self, time: datetime) -> int:
        """Finds the offset of a time by bisection, with offsets rounded up to the next entry."""
        self._inspect()
        sought, end = log_records.spell_timestamp(time), self.size
        low, high = 0, end
        while low < high:
            middle = (low + high) // 2
            offset, found = self._timestamp_after(middle, end)
            if found is None or found >= sought:
                high = middle
            else:
                low = offset + 1
        return lines.line_start(self._fd, low, end)

    def tail(self, writer: Writer, count: int) -> tuple[Entry, ...]:
        """Returns the writer's last entries; each entry has the offset of the one before."""
        self._inspect()
        return tuple(islice(self._chain(writer), count))[::-1]

    def names(self) -> frozenset[str]:
        self._inspect()
        return frozenset(writer.log or writer.replica for writer in self._lasts)

    def _chain(self, writer: Writer) -> Iterator[Entry]:
        offset = self._lasts.get(writer, LastEntry(0, -1)).offset
        while offset >= 0:
            record = log_records.decode_record(lines.line_at(self._fd, offset, self.size), offset)
            if record is None:
                return
            yield record.entry
            offset = record.previous if record.previous < offset else -1

    def _timestamp_after(self, offset: int, end: int) -> tuple[int, bytes | None]:
        """Returns the offset and timestamp of the first entry at or after ``offset``."""
        start = lines.line_start(self._fd, offset, end)
        while start < end:
            text = lines.line_at(self._fd, start, end)
            if (found := log_records.spelled_timestamp(text)) is not None:
                return start, found
            start += len(text) + 1
        return end, None

    def _check(self, cursor: int, end: int) -> None:
        if 0 <= cursor <= end and (cursor == 0 or os.pread(self._fd, 1, cursor - 1) == b"\n"):
            return
        raise InvalidArgument(f"cursor: {cursor} given; allowed: a cursor that the server returned")

    def _due_checkpoint(self) -> list[bytes]:
        due = max(self._checkpoint_bytes, _CHECKPOINT_BYTES_PER_WRITER * len(self._lasts))
        if self.size - self._checkpoint_offset < due:
            return []
        return [log_records.encode_checkpoint(Checkpoint(self._lasts))]

    def _write(self, data: bytes) -> None:
        """Writes all of the data or nothing, as far as this process can ensure it."""
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(self._fd, rest) :]
        except OSError as error:
            os.ftruncate(self._fd, self.size)
            raise Unavailable(f"the server can't store log lines: {error.strerror}") from error

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Locks the file for one thread of one process. Raises Unavailable: it stays locked."""
        with self._lock, file_lock(self._fd):
            yield

    def _inspect(self) -> None:
        """Reads what other processes have added, unless one of them is just adding to the file."""
        if os.fstat(self._fd).st_size <= self.size or not self._lock.acquire(blocking=False):
            return
        try:
            with file_lock(self._fd, wait=False):
                self._load()
        except Unavailable:
            return
        finally:
            self._lock.release()

    def _load(self) -> None:
        """Reads what was added since the last call, and removes an incomplete end, under lock.

        So nobody is writing: an incomplete end comes from a process that is dead.
        """
        known, size = self.size, os.fstat(self._fd).st_size
        if size == known:
            return
        if size < known:
            raise OSError(errno.ESTALE, "another process has shortened the log file")
        end = self._whole_size(size)
        if end < size:
            os.ftruncate(self._fd, end)
        self._learn(known, end)
        self.size = end

    def _learn(self, known: int, end: int) -> None:
        """Collects what appending needs from added records, back to the last checkpoint."""
        lasts: dict[Writer, LastEntry] = {}
        timestamp: datetime | None = None
        before = self._lasts
        for offset, text in lines.lines_before(self._fd, end):
            if offset < known:
                break
            if record := log_records.decode_record(text, offset):
                entry = record.entry
                last = LastEntry(entry.line.sequence, offset)
                lasts.setdefault(writer_of(entry), last)
                timestamp = timestamp or entry.timestamp
            elif checkpoint := log_records.decode_checkpoint(text):
                before = {**checkpoint.lasts}
                self._checkpoint_offset = offset
                break
        self._lasts = {**before, **lasts}
        self._timestamp = timestamp or self._timestamp

    def _whole_size(self, size: int) -> int:
        """Returns the end of the last complete entry: any write may have been interrupted."""
        size = lines.last_newline(self._fd, size)
        end = size
        for offset, text in lines.lines_before(self._fd, size):
            if log_records.decode_record(text, offset) is not None:
                return end
            end = offset
        if size:
            raise DataLoss("the log file of this job contains no log lines; move the file away")
        return 0


def _take(
    entries: list[Entry], text: bytes, offset: int, screen: Screen, may_hold: MayHold | None
) -> None:
    """Adds the record's entry if the filter accepts it; most other records are not decoded."""
    if may_hold is not None and not may_hold(text):
        return
    record = log_records.decode_record(text, offset)
    if record is not None and (may_hold is None or screen.takes(record.entry)):
        entries.append(record.entry)


MayHold = Callable[[bytes], bool]
_ATTEMPT_AT = 31
"""Behind the timestamp, which is of fixed width."""


def compile_screen(screen: Screen) -> MayHold | None:
    """Returns a test, False only for records that the filter excludes; None: no test needed."""
    tests: list[MayHold] = []
    if screen.attempt:
        tests.append(_starts(f"{screen.attempt},".encode()))
    if screen.replica:
        tests.append(_holds(encode_text(screen.replica)))
    if screen.severities:
        names = "|".join(sorted(map(re.escape, screen.severities)))
        tests.append(_matches(re.compile(f'"(?:{names})"'.encode())))
    if screen.contains:
        tests.append(_says(encode_text(screen.contains)[1:-1].lower()))
    if not tests:
        return None
    return tests[0] if len(tests) == 1 else lambda text: all(test(text) for test in tests)


def _starts(attempt: bytes) -> MayHold:
    return lambda text: text.startswith(attempt, _ATTEMPT_AT)


def _holds(part: bytes) -> MayHold:
    return lambda text: part in text


def _matches(pattern: re.Pattern[bytes]) -> MayHold:
    return lambda text: pattern.search(text) is not None


def _says(part: bytes) -> MayHold:
    """Returns a test for a text in any case, which is True for records beyond ASCII."""
    return lambda text: part in text.lower() or not text.isascii()
