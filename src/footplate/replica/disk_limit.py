"""Measures the disk space of a program's own files, and says when it is over the limit.

A process of its own walks through them, so that a tree that takes long to walk through holds
nothing up. It isn't started while the disk as a whole holds less than the limit.
"""

from __future__ import annotations

import os
import signal
import time

from footplate.replica.isolation.procfs import Process, find, is_alive
from footplate.replica.isolation.spawn import SpawnFailed, close_all_but, spawn
from footplate.replica.phase import NEVER
from footplate.replica.program_output import Stream
from footplate.safe_path import open_directory

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Iterable, Iterator, Sequence

INTERVAL_S = 2.0
"""The least time from one measurement to the next; long ones are made less often."""
LONGEST_S = 60.0
"""A walk that takes longer counts what it has seen."""
_END_S = 0.1
"""How long to wait for the end of a process that has said all."""
_SHARE = 10
"""At most this part of the time is spent on measuring."""
_BLOCK_BYTES = 512


class DiskLimit:
    """The limit of a program's bytes on disk. ``find_pids`` returns the program's processes: files
    that they hold open count even if deleted.
    """

    def __init__(
        self,
        paths: Sequence[str],
        limit_bytes: int,
        find_pids: Callable[[], Iterable[int]],
        monotonic: Callable[[], float],
    ) -> None:
        self._paths = paths
        self._limit_bytes = limit_bytes
        self._find_pids = find_pids
        self._monotonic = monotonic
        self._began = monotonic()
        self._due = self._began + INTERVAL_S if limit_bytes and paths else NEVER
        self._walk: Walk | None = None
        self.used_bytes = 0
        """The bytes at the last measurement."""

    @property
    def exceeded(self) -> bool:
        return bool(self._limit_bytes) and self.used_bytes > self._limit_bytes

    @property
    def streams(self) -> tuple[Stream, ...]:
        return () if self._walk is None or not self._walk.stream.open else (self._walk.stream,)

    def deadline(self) -> float:
        return self._due

    def advance(self) -> None:
        now = self._monotonic()
        if self._walk is not None:
            if not self._walk.stream.open:
                self._take(self._walk, now)
            elif now >= self._due:  # it hangs: on a network disk, say
                self._walk.close()
                self._due = now + _END_S
            return
        if now < self._due:
            return
        self._due = now + INTERVAL_S
        if used_of_disks(self._paths) <= self._limit_bytes:
            return
        try:
            self._walk = Walk(self._paths, self._find_pids())
        except (OSError, SpawnFailed):  # it is measured again
            return
        # A walk ends itself after ``LONGEST_S``: one that still runs at twice that hangs.
        self._began, self._due = now, now + 2 * LONGEST_S

    def close(self) -> None:
        if self._walk is not None:
            self._walk.close()
            self._walk.reap()
            self._walk = None

    def _take(self, walk: Walk, now: float) -> None:
        if walk.used_bytes is not None:
            self.used_bytes = walk.used_bytes
        if not walk.reap():
            self._due = now + _END_S
            return
        self._walk = None
        self._due = now + max(INTERVAL_S, _SHARE * (now - self._began))


class Walk:
    """A running measurement; ``stream`` is to be read until it is closed."""

    def __init__(self, paths: Sequence[str], pids: Iterable[int]) -> None:
        """Starts the measurement. Raises OSError, SpawnFailed."""
        self.used_bytes: int | None = None
        self.stream = Stream(self._read)
        pids = list(pids)

        def body(ready: int) -> None:
            close_all_but({ready, self.stream.writing})
            os.close(ready)
            _tell(paths, pids, self.stream.writing)

        try:
            self._pid = spawn(body)
            self._process: Process | None = find(self._pid)
        except BaseException:
            self.stream.close()
            raise
        finally:
            self.stream.hand_over()

    def _read(self, lines: list[str]) -> None:
        for line in filter(str.isdigit, lines):
            self.used_bytes = int(line)

    def close(self) -> None:
        """Ends the measurement, if it still runs."""
        self.stream.close()
        if self._process is not None and is_alive(self._process):
            os.kill(self._pid, signal.SIGKILL)

    def reap(self) -> bool:
        """Reaps the process; returns whether it has ended."""
        try:
            return os.waitpid(self._pid, os.WNOHANG)[0] != 0
        except ChildProcessError:  # the containment mode subreaper may be faster
            return True


def _tell(paths: Sequence[str], pids: Sequence[int], descriptor: int) -> None:
    """Writes the number of bytes to ``descriptor``, in a process of its own."""
    end = time.monotonic() + LONGEST_S
    count = count_bytes(paths, pids, lambda: time.monotonic() < end)
    os.write(descriptor, f"{count}\n".encode("ascii"))
    os._exit(0)


def used_of_disks(paths: Sequence[str]) -> int:
    """Returns the bytes used on the disks of ``paths``, whoever uses them: no path can hold
    more.
    """
    found: dict[int, int] = {}
    for path in paths:
        try:
            disk = os.statvfs(path)
            found[os.stat(path).st_dev] = (disk.f_blocks - disk.f_bfree) * disk.f_frsize
        except OSError:  # the walk measures it
            continue
    return sum(found.values())


def count_bytes(
    paths: Sequence[str], pids: Iterable[int], goes_on: Callable[[], bool] = lambda: True
) -> int:
    """Returns the bytes on disk of files in ``paths``, and of deleted files that ``pids`` have
    open.

    No link is followed, whatever is changed meanwhile; a file with several names counts once.
    """
    total = 0
    seen: set[tuple[int, int]] = set()
    disks: set[int] = set()
    for status in _walk_all(paths, disks, goes_on):
        key = status.st_dev, status.st_ino
        if status.st_nlink < 2 or key not in seen:
            total += status.st_blocks * _BLOCK_BYTES
            if status.st_nlink > 1:
                seen.add(key)
    for status in _find_deleted(pids, goes_on):
        key = status.st_dev, status.st_ino
        if status.st_dev in disks and key not in seen:
            seen.add(key)
            total += status.st_blocks * _BLOCK_BYTES
    return total


def _walk_all(
    paths: Sequence[str], disks: set[int], goes_on: Callable[[], bool]
) -> Iterator[os.stat_result]:
    """Yields the status of all files. Each directory is opened from its parent by name, so that
    none is a link.
    """
    waiting: list[tuple[str, ...]] = [(path,) for path in paths]
    while waiting and goes_on():
        names = waiting.pop()
        try:
            directory = open_directory(names[0], names[1:])
        except OSError:  # it goes away while it is counted
            continue
        try:
            disks.add(os.fstat(directory).st_dev)
            with os.scandir(directory) as entries:
                for entry in entries:
                    if not goes_on():
                        return
                    try:
                        yield entry.stat(follow_symlinks=False)
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append((*names, entry.name))
                    except OSError:  # it goes away while it is counted
                        continue
        except OSError:  # it goes away while it is counted
            continue
        finally:
            os.close(directory)


def _find_deleted(pids: Iterable[int], goes_on: Callable[[], bool]) -> Iterator[os.stat_result]:
    for pid in pids:
        directory = f"/proc/{pid}/fd"
        try:
            names = os.listdir(directory)
        except OSError:  # the process has ended
            continue
        for name in names:
            if not goes_on():
                return
            try:
                status = os.stat(os.path.join(directory, name))
            except OSError:  # the file was closed
                continue
            if status.st_nlink == 0:
                yield status
