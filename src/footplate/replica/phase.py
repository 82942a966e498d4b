"""Phases of a replica's life.

Fetching ─ Preparing ─ Gathering ─ Running ─ Draining ─ Delivering

Gathering is only for the replicas of a gang.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from footplate.replica.disk_space import make_room

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

    from footplate.replica.context import Context
    from footplate.replica.program_output import Stream

NEVER = float("inf")


class Phase(ABC):
    streams: Sequence[Stream] = ()
    """What is to be read."""

    def __init__(self, context: Context) -> None:
        self.context = context

    def deadline(self) -> float:
        """Returns the time at which there is something to do, if nothing happens before."""
        return NEVER

    @abstractmethod
    def advance(self) -> Phase | None:
        """Does what is due; returns the next phase, often this one, or None at the end."""

    @abstractmethod
    def stop(self) -> Phase:
        """Ends the phase on a request from outside, which may come several times."""


class Delivering(Phase):
    """The phase after the program's end: waits until the server has everything, and all is
    clean.
    """

    RETRY_S = 1.0

    def __init__(
        self, context: Context, kind: str, code: int, cause: str, advice: str = ""
    ) -> None:
        super().__init__(context)
        context.end()
        if make_room(context.home):
            if context.containment is not None:
                context.containment.discard()
            message = (
                "the disk is full: the supervisor removed the program's working directory and /tmp"
            )
            context.journal.event("DISK_FULL", message)
        context.journal.exit(kind, code, cause, advice)
        self.outcome = f"{kind} {code}{': ' if cause else ''}{cause}"
        self._kill_at = 0.0

    def deadline(self) -> float:
        return NEVER if self.context.clean else self._kill_at

    def advance(self) -> Phase | None:
        now = self.context.monotonic()
        if not self.context.clean and now >= self._kill_at:
            self.context.kill()
            self._kill_at = now + self.RETRY_S
        delivered = self.context.report_client.idle and not self.context.journal.held
        return None if delivered and self.context.clean else self

    def stop(self) -> Phase:
        return self


def fail(context: Context, cause: str) -> Delivering:
    """Returns the last phase of a replica whose program couldn't be started."""
    context.end_child()
    return Delivering(context, "UNPREPARED", 0, cause)
