"""Usage storage: a file of bounded size for each replica of a job.

What survives: an append is one ``write``, as with log lines; a torn end is cut off when the file
is used first. A file of ``MOST`` points is replaced, in one rename, by one of half as many that
say the same in less detail. So a replica's file stays below a MiB however long its job runs, and
reading it costs the same for ever.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any

from footplate.domain.errors import InvalidArgument, Unavailable
from footplate.domain.log_lines import restart_of
from footplate.domain.names import JobUid
from footplate.domain.usage import Counters, Figure, Point, Sample, condense, point_of
from footplate.file_lock import file_lock
from footplate.logs.lines import last_newline

_DIGITS = 3
_encode = json.JSONEncoder(separators=(",", ":")).encode


@dataclass(frozen=True)
class Record:
    attempt: int
    sequence: int
    point: Point
    counters: Counters


def encode(record: Record) -> bytes:
    point = record.point
    row = (
        record.attempt,
        record.sequence,
        point.time.isoformat(),
        round(point.seconds, _DIGITS),
        _figures(point.figures),
        {gpu: _figures(figures) for gpu, figures in point.gpus.items()},
        astuple(record.counters),
    )
    return _encode(row).encode("ascii") + b"\n"


def decode(line: bytes) -> Record | None:
    """Decodes a record; None: the line is something else."""
    try:
        attempt, sequence, time, seconds, figures, gpus, counters = json.loads(line)
        point = Point(
            datetime.fromisoformat(time),
            float(seconds),
            _read_figures(figures),
            {gpu: _read_figures(pairs) for gpu, pairs in gpus.items()},
        )
        counters[4:-2] = []  # of the network, in files of earlier versions
        return Record(int(attempt), int(sequence), point, Counters(*counters))
    except (ValueError, TypeError, AttributeError):
        return None


def _figures(figures: Mapping[str, Figure]) -> dict[str, tuple[float, float]]:
    return {n: (round(f.mean, _DIGITS), round(f.peak, _DIGITS)) for n, f in figures.items()}


def _read_figures(pairs: Mapping[str, Any]) -> dict[str, Figure]:
    return {name: Figure(float(mean), float(peak)) for name, (mean, peak) in pairs.items()}


MOST = 2048
"""Points of one replica, before there are half as many."""
_KNOWN = 4096
"""Replicas whose files needn't be read again before the next append."""
_NAME = re.compile(r"[A-Za-z0-9_-]{1,128}")


_MISSING = (0, 0)
"""The state of a file that isn't there."""


@dataclass
class _Tail:
    """The data about a file that appending needs."""

    attempt: int = 0
    sequence: int = 0
    counters: Counters | None = None
    time: datetime | None = None
    count: int = 0
    state: tuple[int, int] = _MISSING
    """The file's inode and size when this was true."""


class FileUsage:
    """Stores samples in ``directory``, to which several processes may write, one at a time."""

    def __init__(self, directory: Path, now: Callable[[], datetime], most: int = MOST) -> None:
        self._directory = directory
        self._now = now
        self._most = most
        self._tails: OrderedDict[Path, _Tail] = OrderedDict()
        self._lock = threading.Lock()

    def append(self, uid: JobUid, attempt: int, replica: str, samples: Sequence[Sample]) -> None:
        path = self._path(uid, replica)
        with self._lock:
            try:
                with self._locked(path):
                    self._append(path, attempt, samples)
            except OSError as error:
                self._tails.pop(path, None)
                raise Unavailable(
                    f"the server can't store the utilisation of replicas: {error.strerror}"
                ) from error

    def last(self, uid: JobUid, attempt: int, replica: str) -> int:
        path = self._path(uid, replica)
        if not path.exists():
            return 0
        with self._lock, self._locked(path):
            tail = self._tail(path)
            return tail.sequence if tail.attempt == attempt else 0

    def replicas(self, uid: JobUid) -> tuple[str, ...]:
        try:
            paths = list(self._folder(uid).iterdir())
        except FileNotFoundError:
            return ()
        return tuple(sorted(path.stem for path in paths if path.suffix == ".jsonl"))

    def read(
        self, uid: JobUid, replica: str, points: int, since: datetime | None = None
    ) -> tuple[Point, ...]:
        kept = [record.point for record in _read(self._path(uid, replica))]
        return condense([p for p in kept if since is None or p.time > since], points)

    def delete(self, uid: JobUid) -> None:
        folder = self._folder(uid)
        with self._lock:
            shutil.rmtree(folder, ignore_errors=True)
            for path in [path for path in self._tails if path.parent == folder]:
                del self._tails[path]

    def _append(self, path: Path, attempt: int, samples: Sequence[Sample]) -> None:
        tail = self._tail(path)
        fresh = list(_follow(tail, attempt, samples, self._now()))
        if not fresh:
            return
        if tail.count + len(fresh) > self._most:
            self._replace(path, fresh)
        else:
            _write(path, b"".join(map(encode, fresh)))
        newest = fresh[-1]
        count = self._count(path, tail.count + len(fresh))
        self._tails[path] = replace(_tail_of(newest, count), state=_state(path))

    def _count(self, path: Path, count: int) -> int:
        return count if count <= self._most else len(_read(path))

    def _replace(self, path: Path, fresh: Sequence[Record]) -> None:
        """Rewrites the file with old and ``fresh`` records, in half as many points as allowed."""
        newest = fresh[-1]
        points = [record.point for record in (*_read(path), *fresh)]
        condensed = condense(points, max(1, self._most // 2))
        records = [Record(newest.attempt, newest.sequence, p, newest.counters) for p in condensed]
        part = path.with_suffix(".part")
        # A server that was killed may have left it, and ``_write`` appends.
        part.unlink(missing_ok=True)
        _write(part, b"".join(map(encode, records)))
        part.replace(path)

    def _tail(self, path: Path) -> _Tail:
        known, state = self._tails.get(path), _state(path)
        if known is None or known.state != state:
            self._tails[path] = _find_tail(path) if state != _MISSING else _Tail()
            while len(self._tails) > _KNOWN:
                self._tails.popitem(last=False)
        self._tails.move_to_end(path)
        return self._tails[path]

    @contextmanager
    def _locked(self, path: Path) -> Iterator[None]:
        """Locks a job's files, and creates the folder if necessary. Raises OSError, Unavailable."""
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with file_lock(descriptor):
                yield
        finally:
            os.close(descriptor)

    def _folder(self, uid: JobUid) -> Path:
        if not _NAME.fullmatch(uid):
            raise InvalidArgument(f"{uid!r} is not the uid of a job")
        return self._directory / uid

    def _path(self, uid: JobUid, replica: str) -> Path:
        if not _NAME.fullmatch(replica):
            raise InvalidArgument(f"{replica!r} is not the name of a replica")
        return self._folder(uid) / f"{replica}.jsonl"


def _find_tail(path: Path) -> _Tail:
    _cut(path)
    records = _read(path)
    tail = _tail_of(records[-1], len(records)) if records else _Tail()
    return replace(tail, state=_state(path))


def _state(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return _MISSING
    return status.st_ino, status.st_size


def _tail_of(record: Record, count: int) -> _Tail:
    return _Tail(record.attempt, record.sequence, record.counters, record.point.time, count)


def _follow(
    tail: _Tail, attempt: int, samples: Sequence[Sample], now: datetime
) -> Iterator[Record]:
    """Yields records for new samples; their times never go back, and aren't later than ``now``."""
    if attempt < tail.attempt:
        return
    same = attempt == tail.attempt
    last, before = (tail.sequence, tail.counters) if same else (0, None)
    time = tail.time
    for sample in samples:
        if sample.sequence <= last:
            continue
        latest = min(sample.time, now)
        time = latest if time is None else max(latest, time)
        if restart_of(sample.sequence) != restart_of(last):
            before = None
        yield Record(attempt, sample.sequence, point_of(sample, before, time), sample.counters)
        last, before = sample.sequence, sample.counters


def _read(path: Path) -> list[Record]:
    """Reads all complete records."""
    try:
        lines = path.read_bytes().split(b"\n")[:-1]
    except FileNotFoundError:
        return []
    return [record for line in lines if (record := decode(line)) is not None]


def _cut(path: Path) -> None:
    """Removes an incomplete end, which a process that died may have left."""
    try:
        with path.open("r+b") as file:
            size = os.fstat(file.fileno()).st_size
            whole = last_newline(file.fileno(), size)
            if whole < size:
                file.truncate(whole)
    except FileNotFoundError:
        return


def _write(path: Path, data: bytes) -> None:
    """Appends all of the data or nothing, as far as this process can ensure it."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
    descriptor = os.open(path, flags, 0o600)
    try:
        size = os.fstat(descriptor).st_size
        rest = memoryview(data)
        try:
            while rest:
                rest = rest[os.write(descriptor, rest) :]
        except OSError:
            os.ftruncate(descriptor, size)
            raise
    finally:
        os.close(descriptor)
