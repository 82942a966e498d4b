"""Stores the reports of supervisors: log lines, states, events, usage, exits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from footplate.control.combined_updates import CombinedUpdates
from footplate.control.current_attempts import current
from footplate.control.elapsed_time import steadied
from footplate.control.tokens import Bearer
from footplate.domain.errors import InvalidArgument
from footplate.domain.job_states import Phase
from footplate.domain.jobs import Address, Job, JobEvent
from footplate.domain.lifecycle import (
    Event,
    ReplicaExited,
    ReplicaPreparing,
    ReplicaReady,
    ReplicaRunning,
    awaited,
    to_stop,
)
from footplate.domain.log_lines import RESTART_SPAN, restart_of
from footplate.domain.names import JobUid
from footplate.domain.replica_records import (
    EventRecord,
    ExitRecord,
    LineRecord,
    MetricRecord,
    Record,
    StateRecord,
    TagsRecord,
    UsageRecord,
)
from footplate.ports.clock import SteadyClock
from footplate.ports.logs import Logs
from footplate.ports.store import Store
from footplate.ports.usage import UsageHistory

_ALL = 100_000
"""More events than any job has."""
_Decisive = StateRecord | EventRecord | ExitRecord
_KEPT = (LineRecord, UsageRecord, MetricRecord, TagsRecord)
"""Nothing follows from them: there may be thousands in a report."""


def _check_numbers(records: Sequence[Record], restart: int) -> None:
    """Checks that all records belong to this restart of the replica. Raises InvalidArgument."""
    wrong = next((r.sequence for r in records if restart_of(r.sequence) != restart), None)
    if wrong is not None:
        raise InvalidArgument(f"record {wrong} doesn't belong to restart {restart} of the replica")


@dataclass(frozen=True)
class Receipt:
    """The answer to a report.

    ``acknowledged``: everything up to this sequence is stored. ``stop``: end the program. If the
    report of a dead program had no records, ``acknowledged`` is the number after which a successor
    of its supervisor must continue.
    """

    acknowledged: int
    stop: bool


@dataclass(frozen=True, eq=False)
class Reports:
    """Stores reports exactly once, although every record may be repeated, and may come late.

    ``receive`` gets each report of a current supervisor before it is stored. ``ready`` gets a job
    that changed and in which no replica waits for others (any more). ``measure`` stores
    metrics that a replica of a job reports. ``retrying`` stores the last records of a dead
    program, on a full disk in the reserved space.
    """

    store: Store
    logs: Logs
    usage: UsageHistory
    clock: SteadyClock
    wake: Callable[[], None]
    receive: Callable[[Bearer, Sequence[Record]], None] = lambda *_: None
    ready: Callable[[JobUid], None] = lambda _: None
    measure: Callable[[Job, str, Sequence[Record]], None] = lambda *_: None
    retrying: Callable[[Callable[[], None]], None] = lambda keep: keep()
    _updates: CombinedUpdates = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_updates", CombinedUpdates(self.store))

    def accept(self, bearer: Bearer, records: Sequence[Record], *, ended: bool = False) -> Receipt:
        """Stores lines and samples, then applies the other records in order.

        ``ended``: the program is dead. On a full disk the lines of a running program wait for
        space.

        Raises:
            PermissionDenied: the attempt is over, the job is gone, or another supervisor has
                replaced this one; nothing was stored.
            InvalidArgument: a record has a number of another start of the replica.
            Unavailable: try again later; records that were stored will not be duplicated.
        """
        job = current(self.store, bearer)
        _check_numbers(records, bearer.restart)
        self.receive(bearer, records)
        # The lines are stored before the states and the exit. The acknowledgement of an exit tells
        # the supervisor that everything before it is stored, and a job in a terminal state has all
        # its lines. After a crash in between, the supervisor sends the same records again: lines
        # are known by their numbers, so none is stored twice, and the exit is applied then.
        if ended:
            self.retrying(lambda: self._keep(job, bearer.replica, records))
        else:
            self._keep(job, bearer.replica, records)
        after = self._take(job, bearer, [r for r in records if not isinstance(r, _KEPT)])
        acknowledged = bearer.restart * RESTART_SPAN  # which is before the first record
        if records:
            acknowledged = records[-1].sequence
        elif ended:
            acknowledged = self._last(after, bearer.replica)
        return Receipt(acknowledged, stop=bearer.replica in to_stop(after))

    def _keep(self, job: Job, replica: str, records: Sequence[Record]) -> None:
        """Stores the records that don't change the job: lines, samples and metrics."""
        lines = [record.line for record in records if isinstance(record, LineRecord)]
        if lines:
            self.logs.append(job.log, job.attempt, replica, lines, job.spec.trial or "")
        samples = [record.sample for record in records if isinstance(record, UsageRecord)]
        if samples:
            self.usage.append(job.uid, job.attempt, replica, samples)
        self.measure(job, replica, records)

    def _last(self, job: Job, replica: str) -> int:
        """Returns the highest stored number of a record of the replica's current attempt."""
        entries = self.logs.tail(job.log, job.attempt, replica, 1, job.spec.trial or "")
        prefix = f"{job.attempt}/{replica}/"
        keys = (stored.event.key or "" for stored in self.store.events(job.uid, limit=_ALL))
        numbers = [int(key.removeprefix(prefix)) for key in keys if key.startswith(prefix)]
        numbers += (entry.line.sequence for entry in entries)
        return max(*numbers, 0, self.usage.last(job.uid, job.attempt, replica))

    def _take(self, job: Job, bearer: Bearer, records: Sequence[_Decisive]) -> Job:
        """Applies the records in order, in one write; all are from one start of one replica."""
        steps = [self._step(job, bearer, record) for record in records]
        if not steps:
            return job
        if all(isinstance(step, JobEvent) for step in steps):
            self.store.append(job.uid, [step for step in steps if isinstance(step, JobEvent)])
            return job
        # Replicas of a gang often report at once, and what one read before is out of date then.
        known = job if len(job.replicas) == 1 else None
        after = self._updates.apply(job.uid, steps, known)
        self.wake()
        if not awaited(after):
            self.ready(job.uid)
        return after

    def _step(self, job: Job, bearer: Bearer, record: _Decisive) -> Event | JobEvent:
        if isinstance(record, EventRecord):
            return self._note(job, bearer.replica, record)
        return steadied(self._event(job, bearer, record), self.clock)

    def _event(self, job: Job, bearer: Bearer, record: StateRecord | ExitRecord) -> Event:
        now, replica, restart = self.clock.now(), bearer.replica, bearer.restart
        match record:
            case StateRecord(phase=Phase.PREPARING):
                return ReplicaPreparing(now, job.attempt, replica, restart=restart)
            case StateRecord(address=Address() as address):
                return ReplicaReady(now, job.attempt, replica, address, restart=restart)
            case StateRecord():
                return ReplicaRunning(now, job.attempt, replica, restart=restart)
            case ExitRecord():
                return ReplicaExited(now, job.attempt, replica, record.exit, restart=restart)
            case _:
                assert_never(record)

    def _note(self, job: Job, replica: str, record: EventRecord) -> JobEvent:
        key = f"{job.attempt}/{replica}/{record.sequence}"
        return JobEvent(self.clock.now(), record.kind, record.message, job.attempt, replica, key)
