"""What supervisors report: lines, states, events and exits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from footplate.control.attempts import current
from footplate.control.decisions import apply
from footplate.control.turns import Turns
from footplate.domain.jobs import Address, JobEvent
from footplate.domain.lifecycle import (
    ReplicaEvent,
    ReplicaExited,
    ReplicaPreparing,
    ReplicaReady,
    ReplicaRunning,
    to_stop,
)
from footplate.domain.states import Phase
from footplate.wire.replica_v1 import EventRecord, ExitRecord, LineRecord, Record, StateRecord

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate.domain.jobs import Job
    from footplate.domain.names import AttemptId
    from footplate.ports.clock import Clock
    from footplate.ports.logs import Logs
    from footplate.ports.store import Store

_ALL = 100_000
"""More events than any job has."""


@dataclass(frozen=True)
class Receipt:
    """``acknowledged``: everything up to this sequence is kept. ``stop``: end the program.

    In the answer to a report without records ``acknowledged`` is the number that whoever goes on
    for a dead supervisor must go on from.
    """

    acknowledged: int
    stop: bool


class Reports:
    """At least once in, exactly once kept: every record may come again, and late."""

    def __init__(
        self,
        store: Store,
        logs: Logs,
        clock: Clock,
        wake: Callable[[], None],
    ) -> None:
        self._store = store
        self._logs = logs
        self._clock = clock
        self._wake = wake
        self._turns = Turns()

    def accept(self, attempt_id: AttemptId, replica: str, records: Sequence[Record]) -> Receipt:
        """Keep the lines, then let the rest happen, in order.

        Raises:
            PermissionDenied: the attempt is over, or the job is gone; nothing was kept.
            Unavailable: not now; what was kept will not be doubled when it comes again.
        """
        job = current(self._store, attempt_id)
        lines = [record.line for record in records if isinstance(record, LineRecord)]
        if lines:
            self._logs.append(job.uid, job.attempt, replica, lines)
        for record in records:
            job = self._happen(job, replica, record)
        acknowledged = records[-1].sequence if records else self._last(job, replica)
        return Receipt(acknowledged, stop=replica in to_stop(job))

    def _last(self, job: Job, replica: str) -> int:
        """The highest number that is kept with something of the replica's current attempt."""
        entries = self._logs.tail(job.uid, job.attempt, replica, 1)
        prefix = f"{job.attempt}/{replica}/"
        keys = (stored.event.key or "" for stored in self._store.events(job.uid, limit=_ALL))
        numbers = [int(key.removeprefix(prefix)) for key in keys if key.startswith(prefix)]
        return max((*numbers, *(entry.line.sequence for entry in entries)), default=0)

    def _happen(self, job: Job, replica: str, record: Record) -> Job:
        now = self._clock.now()
        match record:
            case LineRecord():
                return job
            case EventRecord():
                self._note(job, replica, record)
                return job
            case StateRecord(phase=Phase.PREPARING):
                event: ReplicaEvent = ReplicaPreparing(now, job.attempt, replica)
            case StateRecord(address=Address() as address):
                event = ReplicaReady(now, job.attempt, replica, address)
            case StateRecord():
                event = ReplicaRunning(now, job.attempt, replica)
            case ExitRecord():
                event = ReplicaExited(now, job.attempt, replica, record.exit)
            case _:
                assert_never(record)
        with self._turns.of(job.uid):
            after = apply(self._store, job.uid, event).job
        self._wake()
        return after

    def _note(self, job: Job, replica: str, record: EventRecord) -> None:
        key = f"{job.attempt}/{replica}/{record.sequence}"
        event = JobEvent(self._clock.now(), record.kind, record.message, job.attempt, replica, key)
        self._store.append(job.uid, (event,))
