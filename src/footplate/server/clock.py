"""This machine's clock, with its history of jumps."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from threading import Lock
from typing import TYPE_CHECKING

from footplate.domain.clock_history import ClockHistory, ClockSegment
from footplate.replica.isolation.procfs import boot_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_MOST_STRETCHES = 100
"""A clock that is set all the time must not fill the memory."""


_NOTED_S = 0.1
_DRIFT_S = 0.001
"""Readings within so much of the last one that was noted aren't noted."""


class SystemClock:
    """Implements ports.clock.SteadyClock, with the monotonic clock as its witness.

    ``file`` keeps what it has seen for the next server, until the machine starts anew: the clock
    may be set while there is none. The monotonic clock stands still while the machine sleeps, as it
    does for supervisors: running time limits don't count that time.
    """

    def __init__(
        self,
        file: Path | None = None,
        wall: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
        boot: Callable[[], str] = boot_id,
    ) -> None:
        self._file = file
        self._wall = wall
        self._monotonic = monotonic
        self._boot = boot()
        self._lock = Lock()
        self._timeline = self._load()
        self._noted = 0.0, 0.0
        """What the wall clock showed last when that was noted; and what it would have shown when
        the monotonic one was at 0."""
        self.now()

    def now(self) -> datetime:
        with self._lock:
            wall, monotonic_s = self._wall(), self._monotonic()
            now = datetime.fromtimestamp(wall, UTC)
            if not self._goes_on(wall, monotonic_s):
                self._noted = wall, wall - monotonic_s
                before = self._timeline.stretches
                self._timeline = self._timeline.after(now, monotonic_s)
                if len(self._timeline.stretches) != len(before):
                    self._begin_stretch()
        return now

    def _goes_on(self, wall: float, monotonic_s: float) -> bool:
        """Whether the last reading that was noted says the same as this one, for all that matters.

        The time is asked for dozens of times for each job.
        """
        noted, zero = self._noted
        return 0.0 <= wall - noted < _NOTED_S and abs(wall - monotonic_s - zero) < _DRIFT_S

    def steady(self, moment: datetime) -> datetime:
        return self._timeline.steady(moment)

    def _begin_stretch(self) -> None:
        """The first one stays, for it gives the scale."""
        first, *later = self._timeline.stretches
        self._timeline = ClockHistory((first, *later[-_MOST_STRETCHES:]))
        self._save()

    def _load(self) -> ClockHistory:
        """Nothing, if there is no file, or it is of another start of the machine, or spoilt."""
        if self._file is None or not self._boot:
            return ClockHistory()
        try:
            kept = json.loads(self._file.read_bytes())
            if kept["boot"] != self._boot:
                return ClockHistory()
            return ClockHistory(tuple(_parse(each) for each in kept["stretches"]))
        except (OSError, ValueError, KeyError, TypeError, OverflowError, RecursionError):
            return ClockHistory()

    def _save(self) -> None:
        """Without it the next server knows of no jump; that is no reason to serve nobody."""
        if self._file is None or not self._boot:
            return
        stretches = [
            [each.begin.timestamp(), each.end.timestamp(), each.zero.timestamp()]
            for each in self._timeline.stretches
        ]
        part = self._file.with_suffix(".part")
        try:
            part.write_text(json.dumps({"boot": self._boot, "stretches": stretches}))
            part.replace(self._file)
        except OSError:
            return


def _parse(stretch: list[float]) -> ClockSegment:
    begin, end, zero = (datetime.fromtimestamp(each, UTC) for each in stretch)
    return ClockSegment(begin, end, zero)
