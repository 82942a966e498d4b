"""The life of a replica goes in stages.

Fetching ─ Preparing ─ Gathering ─ Running ─ Draining ─ Delivering

Gathering is only for the replicas of a gang.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from footplate.replica.room import make_room

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.replica.desk import Desk
    from footplate.replica.output import Stream

NEVER = float("inf")


class Stage(ABC):
    streams: Sequence[Stream] = ()
    """What is to be read."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk

    def deadline(self) -> float:
        """When there is something to do, if nothing happens before."""
        return NEVER

    @abstractmethod
    def advance(self) -> Stage | None:
        """Do what is due; the stage that follows, often this one; None: the end."""

    @abstractmethod
    def stop(self) -> Stage:
        """An end is asked for from outside, perhaps not for the first time."""


class Delivering(Stage):
    """The program is over: wait until the server has everything, and all is clean."""

    RETRY_S = 1.0

    def __init__(self, desk: Desk, kind: str, code: int, cause: str, advice: str = "") -> None:
        super().__init__(desk)
        desk.end()
        if make_room(desk.home):
            if desk.cage is not None:
                desk.cage.discard()
            message = "the disk is full: the program's working directory and /tmp were removed"
            desk.journal.event("DISK_FULL", message)
        desk.journal.exit(kind, code, cause, advice)
        self.outcome = f"{kind} {code}{': ' if cause else ''}{cause}"
        self._kill_at = 0.0

    def deadline(self) -> float:
        return NEVER if self.desk.clean else self._kill_at

    def advance(self) -> Stage | None:
        now = self.desk.monotonic()
        if not self.desk.clean and now >= self._kill_at:
            self.desk.kill()
            self._kill_at = now + self.RETRY_S
        delivered = self.desk.courier.idle and not self.desk.journal.held
        return None if delivered and self.desk.clean else self

    def stop(self) -> Stage:
        return self


def fail(desk: Desk, cause: str) -> Delivering:
    """The end of a replica whose program couldn't be started."""
    desk.end_child()
    return Delivering(desk, "UNPREPARED", 0, cause)
