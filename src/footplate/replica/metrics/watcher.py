"""Watches a program's metrics while it runs, and scans once more after its end."""

from __future__ import annotations

import os

from footplate.replica.metrics.event_directories import outermost
from footplate.replica.metrics.hypertune import HypertuneFile
from footplate.replica.metrics.metric_records import MetricRecords
from footplate.replica.metrics.scanner import Scanner
from footplate.replica.phase import NEVER
from footplate.replica.realpath import find_real

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator

    from footplate.replica.context import Context

STAT_S = 1.0
"""Seconds from one look at hypertune's file to the next."""
POLL_INTERVAL_S = 2.0
MAX_BACKOFF_S = 60.0
"""At least and at most, from one look through event files to the next."""
SCAN_BYTES = 8 << 20
"""So much is read in one look while the program runs."""
MAX_FINAL_SCAN_S = 20.0
_SLICE_S = 0.02
"""The supervisor does nothing else for about so long."""
_REST = 49
"""A look is followed by so many times its own length: it takes a fiftieth of a core."""
_ENTRIES_PER_STEP = 4
"""And a part of a look by so many times the length of that."""


class Watch:
    """The watch of a program's metrics, which pauses while the journal accepts no output.

    Every replica searches all directories that its task names, shared ones too: nobody knows which
    replica will be the last to see what the others wrote. The server keeps one of equal
    measurements.
    """

    def __init__(self, context: Context) -> None:
        self._context = context
        self._findings = MetricRecords(context.journal, context.task.metrics)
        folder, name = os.path.split(context.home.metrics)
        self._hypertune = HypertuneFile(os.path.join(find_real(folder), name))
        places = outermost([*context.directories, *filter(None, [context.workdir])])
        self._looks = Scanner(places, self._findings)
        self._inspect: Iterator[None] | None = None
        self._spent_s = 0.0
        self._stat_at = self._look_at = context.monotonic() + STAT_S
        self._give_up_at: float | None = None
        self._concluded = False

    @property
    def concluded(self) -> bool:
        """Says whether the last scan is over."""
        return self._concluded

    def deadline(self) -> float:
        if self._concluded or not self._context.journal.accepts():
            return NEVER
        if self._findings.full and self._give_up_at is None:
            return NEVER
        return min(self._stat_at, self._look_at)

    def advance(self) -> None:
        """Scans if a scan is due while the program runs."""
        now = self._context.monotonic()
        if now < self.deadline():
            return
        if now >= self._stat_at:
            self._stat_at = now + STAT_S
            self._hypertune.look(self._findings.take)
            self._findings.flush()
        if now >= self._look_at:
            self._go_on(now)

    def advance_last(self) -> None:
        """Scans everything once more, without pauses, after the program has ended."""
        now = self._context.monotonic()
        if self._concluded:
            return
        if not self._context.journal.accepts():
            if self._give_up_at is not None:
                self._give_up_at = now + MAX_FINAL_SCAN_S
            return
        if self._give_up_at is None:
            self._give_up_at = now + MAX_FINAL_SCAN_S
            self._hypertune.look(self._findings.take, anyway=True)
            self._findings.flush()
            self._inspect = self._looks.look(float("inf"))
        over = self._slice(now)
        self._stat_at = self._look_at = now
        if now >= self._give_up_at and not over:
            self._findings.note(
                "the service stopped reading the program's metrics "
                f"{MAX_FINAL_SCAN_S:g} s after the program's end"
            )
        if over or self._findings.full or now >= self._give_up_at:
            self._inspect = None
            self._concluded = True
            self._looks.note_unwritten()
            self._findings.conclude()

    def _go_on(self, now: float) -> None:
        if self._inspect is None:
            self._inspect, self._spent_s = self._looks.look(SCAN_BYTES), 0.0
        over = self._slice(now)
        end = self._context.monotonic()
        self._spent_s += end - now
        if over:
            self._inspect = None
            self._look_at = end + min(max(POLL_INTERVAL_S, self._spent_s * _REST), MAX_BACKOFF_S)
        else:
            self._look_at = end + (end - now) * _ENTRIES_PER_STEP

    def _slice(self, now: float) -> bool:
        """Continues the scan for a while; returns whether it is complete."""
        if self._inspect is None:
            return True
        for _ in self._inspect:
            if self._context.monotonic() - now >= _SLICE_S or not self._context.journal.accepts():
                return False
        return True
