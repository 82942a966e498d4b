"""A supervisor as the service sees it: records that come, come again, or come too late."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from footplate.domain.jobs import Exit, ExitKind
from footplate.domain.states import Phase
from footplate.ports.logs import Line
from footplate.wire.replica_v1 import EventRecord, ExitRecord, LineRecord, Record, StateRecord

if TYPE_CHECKING:
    from datetime import datetime

    from footplate.domain.names import AttemptId


@dataclass
class Supervisor:
    """``plan`` is what its program will do; ``spool`` what it has to report, in order."""

    attempt_id: AttemptId
    replica: str
    lines: int
    end: Exit | None
    """None: the program runs until it is stopped."""
    born: datetime
    spool: list[Record] = field(default_factory=list)
    acknowledged: int = 0
    stopping: bool = False
    stuck: bool = False
    """Its program waits for a peer that is no more: it does nothing until it is stopped."""

    @property
    def ended(self) -> bool:
        return bool(self.spool) and isinstance(self.spool[-1], ExitRecord)

    @property
    def delivered(self) -> bool:
        return self.acknowledged == len(self.spool)

    def proceed(self) -> None:
        """The program does the next thing that it would do."""
        if not self.ended and (self.stopping or not self.stuck):
            self.spool.append(self._next(len(self.spool) + 1))

    def _next(self, number: int) -> Record:
        if self.stopping:
            return ExitRecord(number, self.born, Exit(ExitKind.STOPPED))
        if number == 1:
            return StateRecord(number, self.born, Phase.PREPARING)
        if number == 2:
            return EventRecord(number, self.born, "PREPARING", "38 of 52 packages")
        if self.end is not None and self.end.kind is ExitKind.UNPREPARED:
            return ExitRecord(number, self.born, self.end)
        if number == 3:
            return StateRecord(number, self.born, Phase.RUNNING)
        if number <= 3 + self.lines or self.end is None:
            return LineRecord(Line(number, self.born, "INFO", f"line {number}"))
        return ExitRecord(number, self.born, self.end)

    def kept(self) -> list[Record]:
        """What the service has acknowledged."""
        return self.spool[: self.acknowledged]
