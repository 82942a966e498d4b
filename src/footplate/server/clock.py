"""This machine's clock, with its history of jumps."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock

from footplate.domain.clock_history import NUMBERS, ClockHistory, ClockSegment
from footplate.replica.isolation.procfs import boot_id

_MAX_READING_S = 0.002
_MAX_READINGS = 20
"""Both clocks are read again while the process was held up between them."""

_RETRY_S = 1.0
"""Between attempts to write the file on a disk that is full."""


class SystemClock:
    """Implements ports.clock.SteadyClock, with the monotonic clock as its witness.

    ``file`` keeps the history for the next server until the machine restarts, since the clock may
    be set while no server runs. The monotonic clock stops while the machine sleeps, for supervisors
    too, so time limits don't include that time.
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
        self._history = self._load()
        self._unsaved_since: float | None = None
        # Compared with the history of the last server, the first reading shows a jump meanwhile.
        self.now()

    def now(self) -> datetime:
        with self._lock:
            wall, monotonic_s = self._read()
            before, self._history = self._history, self._history.after(wall, monotonic_s)
            due = self._unsaved_since is not None and monotonic_s - self._unsaved_since >= _RETRY_S
            if due or self._history.segments is not before.segments:
                self._unsaved_since = None if self._save() else monotonic_s
            return self._history.mark(wall)

    def _read(self) -> tuple[datetime, float]:
        """Returns the shortest of several readings: a pause within one would look like a jump."""
        best_s, wall, monotonic_s = float("inf"), 0.0, 0.0
        before = self._monotonic()
        for _ in range(_MAX_READINGS):
            shown, after = self._wall(), self._monotonic()
            if after - before < best_s:
                best_s, wall, monotonic_s = after - before, shown, (before + after) / 2
            if best_s < _MAX_READING_S:
                break
            before = after
        return datetime.fromtimestamp(wall, UTC), monotonic_s

    def steady(self, moment: datetime) -> datetime:
        return self._history.steady(moment)

    def _load(self) -> ClockHistory:
        """Loads the history; returns an empty one if the file is missing, damaged, or from before a
        restart.

        Numbers continue after those from before the restart, which records still refer to.
        """
        if self._file is None or not self._boot:
            return ClockHistory()
        try:
            kept = json.loads(self._file.read_bytes())
            segments = tuple(_parse(each) for each in kept["segments"])
            if kept["boot"] != self._boot:
                return ClockHistory((), (segments[-1].number + 1) % NUMBERS)
            return ClockHistory(segments, segments[0].number)
        except FileNotFoundError:
            return ClockHistory()
        except (LookupError, ValueError, TypeError, OverflowError, RecursionError):
            return ClockHistory()

    def _save(self) -> bool:
        """Saves the history. Without it the next server works, but doesn't know of jumps."""
        if self._file is None or not self._boot:
            return True
        segments = [
            [each.number, each.begin.timestamp(), each.zero.timestamp()]
            for each in self._history.segments
        ]
        part = self._file.with_suffix(".part")
        try:
            part.write_text(json.dumps({"boot": self._boot, "segments": segments}))
            part.replace(self._file)
        except OSError:  # it is tried again
            return False
        return True


def _parse(segment: list[float]) -> ClockSegment:
    number, begin, zero = segment
    return ClockSegment(
        int(number) % NUMBERS, datetime.fromtimestamp(begin, UTC), datetime.fromtimestamp(zero, UTC)
    )
