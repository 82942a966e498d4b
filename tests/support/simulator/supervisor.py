"""A supervisor as the service sees it: records that come, come again, or come too late."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from footplate.control.tokens import Bearer
from footplate.domain.job_states import Phase
from footplate.domain.jobs import Address, Exit, ExitKind
from footplate.domain.log_lines import RESTART_SPAN
from footplate.domain.replica_records import (
    EventRecord,
    ExitRecord,
    LineRecord,
    Record,
    StateRecord,
)
from footplate.ports.logs import Line

if TYPE_CHECKING:
    from datetime import datetime

    from footplate.domain.names import AttemptId


ECHOES = (
    Exit(ExitKind.EXITED, 1, "ConnectionResetError: by peer"),
    Exit(ExitKind.SIGNALLED, 6, "gloo: connection closed by peer"),
)
"""How programs end when a peer of theirs is lost."""


@dataclass
class Supervisor:
    """``plan`` is what its program will do; ``spool`` what it has to report, in order."""

    attempt_id: AttemptId
    replica: str
    lines: int
    end: Exit | None
    """None: the program runs until it is stopped."""
    born: datetime
    gang: bool = False
    restart: int = 0
    spool: list[Record] = field(default_factory=list)
    acknowledged: int = 0
    stopping: bool = False
    stuck: bool = False
    """Its program waits for a peer that is no more: it does nothing until it is stopped."""

    lost: bool = False
    """It died, or its program was killed from outside."""
    preempted: bool = False
    """Its engine took its machine away, and said so."""
    echo: Exit | None = None
    """How its program ends next, because a peer is lost."""

    @property
    def evaluates(self) -> bool:
        return self.replica.startswith("evaluator")

    @property
    def last(self) -> Exit | None:
        """The end of its program, once it has ended."""
        record = self.spool[-1] if self.spool else None
        return record.exit if isinstance(record, ExitRecord) else None

    @property
    def ready(self) -> bool:
        """Whether the service knows that its program could start."""
        return any(isinstance(record, StateRecord) and record.address for record in self.kept())

    @property
    def runs(self) -> bool:
        """Whether its program has begun, and hasn't ended."""
        begun = any(r.phase is Phase.RUNNING for r in self.spool if isinstance(r, StateRecord))
        return begun and not self.ended

    @property
    def echoes(self) -> bool:
        """Whether its program has ended only because a peer was lost."""
        return self.echo is not None and self.last == self.echo

    @property
    def ended(self) -> bool:
        return bool(self.spool) and isinstance(self.spool[-1], ExitRecord)

    @property
    def delivered(self) -> bool:
        return self.acknowledged == len(self.spool)

    @property
    def key(self) -> tuple[AttemptId, str]:
        return self.attempt_id, self.replica

    @property
    def bearer(self) -> Bearer:
        return Bearer(self.attempt_id, self.replica, self.restart)

    def proceed(self) -> None:
        """The program does the next thing that it would do."""
        if not self.ended and (self.stopping or self.echo or not self.stuck):
            self.spool.append(self._next(len(self.spool) + 1))

    def _next(self, step: int) -> Record:
        number = self.restart * RESTART_SPAN + step
        if self.stopping:
            return ExitRecord(number, self.born, Exit(ExitKind.STOPPED))
        if self.echo is not None:
            return ExitRecord(number, self.born, self.echo)
        if step == 1:
            return StateRecord(number, self.born, Phase.PREPARING)
        if step == 2:
            return EventRecord(number, self.born, "PREPARING", "38 of 52 packages")
        if self.end is not None and self.end.kind is ExitKind.UNPREPARED:
            return ExitRecord(number, self.born, self.end)
        if step == 3 and self.gang:
            return StateRecord(number, self.born, Phase.READY, Address("127.0.0.1", 4000))
        begin = 4 if self.gang else 3
        if step == begin:
            return StateRecord(number, self.born, Phase.RUNNING)
        if step <= begin + self.lines or self.end is None:
            return LineRecord(Line(number, self.born, "INFO", f"line {step}"))
        return ExitRecord(number, self.born, self.end)

    def learn(self, acknowledged: int) -> None:
        """The service keeps all up to this number."""
        self.acknowledged = max(self.acknowledged, acknowledged - self.restart * RESTART_SPAN)

    def kept(self) -> list[Record]:
        """What the service has acknowledged."""
        return self.spool[: self.acknowledged]
