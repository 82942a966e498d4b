"""Measures how long the program has been idle: no output, report or write."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Iterator, Sequence

MOST_ENTRIES = 5000
"""So many files and directories are looked at, at most, before files count as not written."""


class IdleTracker:
    """``places`` are the directories with its files, checked once it has been idle for ``look_s``.

    ``metrics`` is the file of cloudml-hypertune.
    """

    def __init__(
        self,
        metrics: str,
        places: Sequence[str],
        look_s: float,
        monotonic: Callable[[], float],
        wall: Callable[[], float],
    ) -> None:
        self._metrics = metrics
        self._places = places
        self._look_s = look_s
        self._monotonic = monotonic
        self._wall = wall
        self._last = monotonic()
        """When it last gave a sign."""
        self._reported = _stamp(metrics)

    def end(self) -> None:
        """It has given a sign just now."""
        self._last = self._monotonic()

    def seconds(self) -> float:
        reported = _stamp(self._metrics)
        if reported != self._reported:
            self._reported = reported
            self.end()
        silent_s = self._monotonic() - self._last
        if self._look_s > 0 and silent_s >= self._look_s:
            silent_s = min(silent_s, self._since_written(silent_s))
            self._last = self._monotonic() - silent_s
        return max(0.0, silent_s)

    def _since_written(self, silent_s: float) -> float:
        """Seconds since the latest write that is younger than ``silent_s``; else just that."""
        now = self._wall()
        newest = now - silent_s
        for stamp in find_stamps(self._places, MOST_ENTRIES):
            if newest < stamp <= now:
                newest = stamp
        return now - newest


def find_stamps(places: Sequence[str], most: int) -> Iterator[float]:
    """When each file or directory below was changed last. Links aren't followed."""
    left = list(places)
    while left:
        for entry in _scan(left.pop()):
            if not most:
                return
            most -= 1
            try:
                status = entry.stat(follow_symlinks=False)
                if entry.is_dir(follow_symlinks=False):
                    left.append(entry.path)
            except OSError:
                continue
            yield max(status.st_mtime, status.st_ctime)


def _scan(directory: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(directory) as entries:
            yield from entries
    except OSError:
        return


def _stamp(path: str) -> tuple[int, int]:
    try:
        status = os.stat(path)
    except OSError:
        return 0, 0
    return status.st_mtime_ns, status.st_size
