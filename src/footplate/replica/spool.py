"""Stores records on disk until the server has acknowledged them."""

from __future__ import annotations

import json
import os

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

_RESERVE_BYTES = 65536
_IDLE_BYTES = 262144
_READ_BYTES = 262144
_RECORD_LIMIT_BYTES = 1048576


class Batch:
    """Records as they go into a request: ``body`` is their JSON, with commas between."""

    __slots__ = ("body", "last")

    def __init__(self, last: int, body: bytes) -> None:
        self.last = last
        self.body = body


class Spool:
    """A numbered sequence of records, of which those not yet acknowledged are kept.

    Records lie in segments, files of one JSON object a line named by their first number. A
    segment goes when all of it is acknowledged, so that the disk holds at most ``limit_bytes``
    (and what was appended at once to reach it), and a quarter MiB where the server keeps up.
    Nothing is held in memory. What ``append`` returned from outlives the process at any
    instruction; a record that was torn by its death is cut off when the spool is opened.
    """

    def __init__(
        self,
        directory: str,
        limit_bytes: int,
        write: Callable[[int, bytes, int], int] = os.pwrite,
    ) -> None:
        self.last = 0
        """Number of the newest record."""
        self.acknowledged = 0
        """Number up to which the server keeps all."""
        self._directory = directory
        self._limit_bytes = limit_bytes
        self._segment_bytes = max(4096, limit_bytes // 8)
        self._write = write
        self._segments: list[_Segment] = []
        self._offset = 0
        """Where in the first segment the first record begins that isn't acknowledged."""
        self._writer = -1
        os.makedirs(directory, exist_ok=True)
        self._recover()
        self._keep_reserve()

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)

    @property
    def waiting(self) -> int:
        """The number of records that aren't acknowledged."""
        return self.last - self.acknowledged

    @property
    def waiting_bytes(self) -> int:
        """The size of the records that aren't acknowledged."""
        return self.size_bytes - self._offset

    @property
    def full(self) -> bool:
        """Says whether the spool is at its limit: then nothing should be appended until some is
        acknowledged.
        """
        return self.waiting > 0 and self.size_bytes >= self._limit_bytes

    def append(self, bodies: list[bytes]) -> None:
        """Numbers the records and stores them: all, or none if it raises.

        A body is a JSON object without its opening brace: the number goes before it. The limit
        isn't enforced here.

        Raises OSError if they can't be written (disk full); nothing was changed, so a later try may
        succeed.
        """
        lines = [b'{"n":%d,%s\n' % (n, body) for n, body in enumerate(bodies, self.last + 1)]
        data = b"".join(lines)
        try:
            self._put(data)
        except OSError:
            if self.waiting or not self.size_bytes:
                raise
            self._recycle()
            self._put(data)
        self._segments[-1].count += len(lines)
        self.last += len(lines)

    def append_urgent(self, body: bytes) -> bool:
        """Appends one record, on a full disk in the space reserved for it; returns False if there
        is no space.
        """
        try:
            self.append([body])
        except OSError:  # there is a reserve for it
            self._drop_reserve()
            try:
                self.append([body])
            except OSError:  # the caller tries again
                return False
        return True

    def read(self, limit_bytes: int = _READ_BYTES) -> Batch:
        """Returns the oldest records that aren't acknowledged; at least one if there are any."""
        if not self.waiting:
            return Batch(self.acknowledged, b"")
        with open(self._path(self._segments[0]), "rb", buffering=0) as file:
            data = os.pread(file.fileno(), min(limit_bytes, self.waiting_bytes), self._offset)
            end = data.rfind(b"\n")
            if end < 0:
                data = os.pread(file.fileno(), _RECORD_LIMIT_BYTES, self._offset)
                end = data.index(b"\n")
        data = data[:end]
        return Batch(self.acknowledged + data.count(b"\n") + 1, data.replace(b"\n", b","))

    def read_last(self) -> bytes:
        """Returns the newest record that is still stored; b'' if none is."""
        if not self._segments:
            return b""
        with open(self._path(self._segments[-1]), "rb") as file:
            file.seek(max(0, self._segments[-1].size - _RECORD_LIMIT_BYTES))
            return file.read().rstrip(b"\n").rpartition(b"\n")[2]

    def acknowledge(self, number: int) -> None:
        """Forgets the records up to ``number``, which is between ``acknowledged`` and ``last``."""
        while self.acknowledged < number:
            segment = self._segments[0]
            if number >= segment.last:
                self.acknowledged, self._offset = segment.last, segment.size
                self._drop_acknowledged()
            else:
                self._offset = self._skip(segment, number - self.acknowledged)
                self.acknowledged = number

    def resume_after(self, number: int) -> None:
        """Makes ``number + 1`` the least number of the next record: the server has more records
        than the spool.
        """
        if number > self.last:
            self.acknowledge(self.last)
            self.last = self.acknowledged = number
            # The new segment exists before the old ones go: a directory without any would have the
            # next process number from 1 again.
            old, self._segments = self._segments, []
            self._add_segment()
            self._offset = 0
            for segment in old:
                os.unlink(self._path(segment))

    @property
    def empty(self) -> bool:
        """Says whether no record was ever appended, or all were cleared."""
        return not self._segments

    def clear(self) -> None:
        """Frees all disk space, when no record is wanted and none will be appended."""
        self.close()
        while self._segments:
            os.unlink(self._path(self._segments.pop()))
        self._drop_reserve()

    def close(self) -> None:
        if self._writer >= 0:
            os.close(self._writer)
            self._writer = -1

    def _put(self, data: bytes) -> None:
        if not self._segments or self._segments[-1].size >= self._segment_bytes:
            self._add_segment()
        segment = self._segments[-1]
        if self._writer < 0:
            self._writer = os.open(self._path(segment), os.O_RDWR)
        done = 0
        try:
            while done < len(data):
                done += self._write(self._writer, data[done:], segment.size + done)
        except OSError:
            os.ftruncate(self._writer, segment.size)
            raise
        segment.size += len(data)

    def _add_segment(self) -> None:
        segment = _Segment(self.last + 1)
        flags = os.O_RDWR | os.O_CREAT | os.O_TRUNC
        writer = os.open(self._path(segment), flags, 0o600)
        self.close()
        self._writer = writer
        self._segments.append(segment)
        self._keep_reserve()

    def _drop_acknowledged(self) -> None:
        """Removes the first segment, all of which is acknowledged, unless it is small and the last.

        There is always one segment: its name gives the next number to the process that opens the
        spool.
        """
        if len(self._segments) > 1:
            os.unlink(self._path(self._segments.pop(0)))
            self._offset = 0
        elif self._segments[0].size >= min(_IDLE_BYTES, self._segment_bytes):
            self._recycle()

    def _recycle(self) -> None:
        """Empties the only segment, all of which is acknowledged, for the records that follow.

        A full disk has room for that. Old records under the new name aren't taken for new ones.
        """
        # First the rename, then the truncation. A kill in between leaves records whose numbers
        # don't fit the name, which ``_scan`` cuts off. The other order could leave an empty segment
        # under the old name, and the next process would use its numbers a second time.
        old, new = self._segments[0], _Segment(self.last + 1)
        self.close()
        os.rename(self._path(old), self._path(new))
        os.truncate(self._path(new), 0)
        self._segments, self._offset = [new], 0

    def _skip(self, segment: _Segment, count: int) -> int:
        """Returns the place at which the next ``count`` records end."""
        offset = self._offset
        with open(self._path(segment), "rb", buffering=0) as file:
            while True:
                data = os.pread(file.fileno(), _READ_BYTES, offset)
                lines = data.count(b"\n")
                if lines >= count:
                    break
                count, offset = count - lines, offset + len(data)
        place = -1
        for _ in range(count):
            place = data.index(b"\n", place + 1)
        return offset + place + 1

    def _path(self, segment: _Segment) -> str:
        return os.path.join(self._directory, "%016d.jsonl" % segment.first)

    def _recover(self) -> None:
        """Reads the segments that an earlier process left, as far as they are whole."""
        for name in sorted(filter(_is_segment, os.listdir(self._directory))):
            segment = _Segment(int(name[:-6]))
            path = os.path.join(self._directory, name)
            if self._segments and segment.first != self.last + 1:
                os.unlink(path)
                continue
            if not self._segments:
                self.acknowledged = segment.first - 1
            _scan(segment, path)
            self._segments.append(segment)
            self.last = segment.last

    @property
    def _reserve(self) -> str:
        return os.path.join(self._directory, "reserve")

    def _keep_reserve(self) -> None:
        try:
            if not os.path.exists(self._reserve):
                with open(self._reserve, "wb", buffering=0) as file:
                    file.write(b"\0" * _RESERVE_BYTES)
        except OSError:  # there is none then
            return

    def _drop_reserve(self) -> None:
        if os.path.exists(self._reserve):
            os.unlink(self._reserve)


class _Segment:
    """A file of ``count`` records from number ``first`` on, in ``size`` bytes."""

    __slots__ = ("count", "first", "size")

    def __init__(self, first: int) -> None:
        self.first = first
        self.count = 0
        self.size = 0

    @property
    def last(self) -> int:
        return self.first + self.count - 1


def _is_segment(name: str) -> bool:
    """Returns whether the file is a segment of this spool: the program can put other files
    there.
    """
    number, _, kind = name.partition(".")
    return kind == "jsonl" and len(number) == 16 and number.isdecimal()


def _scan(segment: _Segment, path: str) -> None:
    """Counts the whole records of a segment, and cuts off the rest."""
    with open(path, "r+b") as file:
        for line in file:
            if not _is_record(line, segment.last + 1):
                break
            segment.count += 1
            segment.size += len(line)
        file.truncate(segment.size)


def _is_record(line: bytes, number: int) -> bool:
    if not line.endswith(b"}\n"):
        return False
    try:
        return bool(json.loads(line)["n"] == number)
    except (ValueError, KeyError, TypeError):
        return False
