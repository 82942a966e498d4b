"""Looks for what the program reports, as long as it runs and once more when it has ended."""

from __future__ import annotations

from footplate.replica.metrics.findings import Findings
from footplate.replica.metrics.folders import outermost
from footplate.replica.metrics.hypertune import HypertuneFile
from footplate.replica.metrics.looks import Looks
from footplate.replica.stage import NEVER

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator

    from footplate.replica.desk import Desk

STAT_S = 1.0
"""Seconds from one look at hypertune's file to the next."""
LOOK_S = 2.0
LONGEST_REST_S = 60.0
"""At least and at most, from one look through event files to the next."""
LOOK_BYTES = 8 << 20
"""So much is read in one look while the program runs."""
LONGEST_LAST_LOOK_S = 20.0
_SLICE_S = 0.02
"""The supervisor does nothing else for about so long."""
_REST = 49
"""A look is followed by so many times its own length: it takes a fiftieth of a core."""
_BREATH = 4
"""And a part of a look by so many times the length of that."""


class Watch:
    """Nothing is looked for while the journal takes no output: what is there can wait.

    Every replica looks through all directories that its task names, shared ones too: which of
    them will be the last to see what the others wrote, nobody knows. The server keeps one of
    each measurement.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._findings = Findings(desk.journal, desk.task["metrics"])
        self._hypertune = HypertuneFile(desk.home.metrics)
        places = outermost([*(desk.task.get("directories") or ()), *filter(None, [desk.workdir])])
        self._looks = Looks(places, self._findings)
        self._look: Iterator[None] | None = None
        self._spent_s = 0.0
        self._stat_at = self._look_at = desk.monotonic() + STAT_S
        self._give_up_at: float | None = None
        self._concluded = False

    @property
    def concluded(self) -> bool:
        """The last look is over."""
        return self._concluded

    def deadline(self) -> float:
        if self._concluded or not self._desk.journal.accepts():
            return NEVER
        if self._findings.full and self._give_up_at is None:
            return NEVER
        return min(self._stat_at, self._look_at)

    def advance(self) -> None:
        """While the program runs: what is due."""
        now = self._desk.monotonic()
        if now < self.deadline():
            return
        if now >= self._stat_at:
            self._stat_at = now + STAT_S
            self._hypertune.look(self._findings.take)
            self._findings.flush()
        if now >= self._look_at:
            self._go_on(now)

    def advance_last(self) -> None:
        """The program has ended: everything once more, without rests."""
        now = self._desk.monotonic()
        if self._concluded:
            return
        if not self._desk.journal.accepts():
            if self._give_up_at is not None:
                self._give_up_at = now + LONGEST_LAST_LOOK_S
            return
        if self._give_up_at is None:
            self._give_up_at = now + LONGEST_LAST_LOOK_S
            self._hypertune.look(self._findings.take, anyway=True)
            self._findings.flush()
            self._look = self._looks.look(float("inf"))
        over = self._slice(now)
        self._stat_at = self._look_at = now
        if now >= self._give_up_at and not over:
            passed = f"{LONGEST_LAST_LOOK_S:g} s after its end"
            self._findings.note(f"what the program reported wasn't all read {passed}")
        if over or self._findings.full or now >= self._give_up_at:
            self._look = None
            self._concluded = True
            self._looks.note_unwritten()
            self._findings.conclude()

    def _go_on(self, now: float) -> None:
        if self._look is None:
            self._look, self._spent_s = self._looks.look(LOOK_BYTES), 0.0
        over = self._slice(now)
        end = self._desk.monotonic()
        self._spent_s += end - now
        if over:
            self._look = None
            self._look_at = end + min(max(LOOK_S, self._spent_s * _REST), LONGEST_REST_S)
        else:
            self._look_at = end + (end - now) * _BREATH

    def _slice(self, now: float) -> bool:
        """Go on with the look for a while; whether it is over."""
        if self._look is None:
            return True
        for _ in self._look:
            if self._desk.monotonic() - now >= _SLICE_S or not self._desk.journal.accepts():
                return False
        return True
