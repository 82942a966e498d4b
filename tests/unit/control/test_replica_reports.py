from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Barrier

import pytest

from footplate.control.replica_reports import Reports
from footplate.control.tokens import Bearer
from footplate.domain.errors import Aborted, InvalidArgument, PermissionDenied, Unavailable
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Address, Exit, ExitKind, Job, JobEvent, Scheduling
from footplate.domain.lifecycle import (
    Admitted,
    CancelRequested,
    Event,
    GraceExpired,
    ReplicaGone,
    react,
)
from footplate.domain.log_lines import RESTART_SPAN
from footplate.domain.names import JobUid, attempt_id
from footplate.domain.replica_records import (
    EventRecord,
    ExitRecord,
    LineRecord,
    Record,
    StateRecord,
    UsageRecord,
)
from footplate.ports.logs import Line
from tests.support.clock import FakeClock
from tests.support.jobs import make_job, make_spec
from tests.support.logs import MemoryLogs
from tests.support.store import MemoryStore
from tests.support.usage import MemoryUsage
from tests.support.usage_contract import make_sample

MASTER, WORKER = "master-replica-0", "worker-replica-0"
EVALUATOR = "evaluator-replica-0"


class CountingStore(MemoryStore):
    """Counts writes, and those that came too late: after another one of the same job."""

    refused = 0
    written = 0

    def get_by_uid(self, uid: JobUid) -> Job:
        job = super().get_by_uid(uid)
        time.sleep(0)  # now anybody else may go on
        return job

    def update(self, job: Job, events: Sequence[JobEvent]) -> None:
        self.written += 1
        try:
            super().update(job, events)
        except Aborted:
            self.refused += 1
            raise

    def append(self, uid: JobUid, events: Sequence[JobEvent]) -> None:
        self.written += 1
        super().append(uid, events)


class Desk:
    def __init__(self, workers: int = 0, evaluators: int = 0, *, together: bool = False) -> None:
        self.clock = FakeClock()
        self.store = CountingStore()
        self.logs = MemoryLogs(self.clock.now)
        self.usage = MemoryUsage()
        self.woken = 0
        self.reports = Reports(self.store, self.logs, self.usage, self.clock, self._wake)
        self.job = make_job(
            spec=make_spec(
                workers=workers,
                evaluators=evaluators,
                scheduling=Scheduling(restarts_together=together),
            )
        )
        self.store.create(self.job, ())
        self.happen(Admitted(self.clock.now()))

    def _wake(self) -> None:
        self.woken += 1

    def happen(self, event: Event) -> Job:
        self.job = react(self.job, event).job
        self.store.update(self.job, ())
        return self.job

    def line(self, number: int, text: str = "hello") -> Record:
        return LineRecord(Line(number, self.clock.now(), "INFO", text))

    def stops(self, replica: str) -> bool:
        """Whether a replica is told to stop that has nothing to report."""
        return self.reports.accept(Bearer(self.job.attempt_id, replica), ()).stop

    def kept(self) -> list[int]:
        return [e.line.sequence for e in self.logs.read(self.job.uid).entries]

    def now(self) -> Job:
        return self.store.get_by_uid(self.job.uid)


@pytest.fixture
def context() -> Desk:
    return Desk()


class DiskReserve:
    """Room is made once."""

    def __init__(self, logs: MemoryLogs) -> None:
        self._logs = logs
        self.used = 0

    def retrying(self, keep: Callable[[], None]) -> None:
        try:
            keep()
        except Unavailable:
            self._logs.full = False
            self.used += 1
            keep()


def test_only_the_last_words_of_a_dead_program_take_of_the_reserve() -> None:
    context = Desk()
    reserve = DiskReserve(context.logs)
    context.reports = Reports(
        context.store,
        context.logs,
        context.usage,
        context.clock,
        context._wake,
        retrying=reserve.retrying,
    )
    bearer = Bearer(context.job.attempt_id, MASTER)
    context.logs.full = True
    with pytest.raises(Unavailable, match="full"):
        context.reports.accept(bearer, [context.line(1)])
    assert reserve.used == 0

    assert context.reports.accept(bearer, [context.line(1)], ended=True).acknowledged == 1
    assert (context.kept(), reserve.used) == ([1], 1)


def test_a_whole_life(context: Desk) -> None:
    at = context.clock.now()
    records: list[Record] = [
        StateRecord(1, at, Phase.PREPARING),
        EventRecord(2, at, "PREPARING", "38 of 52 packages"),
        StateRecord(3, at, Phase.RUNNING),
        context.line(4),
        ExitRecord(5, at, Exit(ExitKind.EXITED, 0)),
    ]

    receipt = context.reports.accept(Bearer(context.job.attempt_id, MASTER), records)

    assert (receipt.acknowledged, receipt.stop) == (5, True)
    assert context.kept() == [4]
    job = context.now()
    assert job.state is State.RUNNING
    assert job.ending is not None
    assert job.ending.state is State.SUCCEEDED
    assert context.woken == 1
    context.reports.accept(Bearer(context.job.attempt_id, MASTER), records[1:2])
    assert context.woken == 1, "lines and progress wake nobody"


def test_what_is_noted_is_written_with_what_changes(context: Desk) -> None:
    at, bearer = context.clock.now(), Bearer(context.job.attempt_id, MASTER)
    before = context.store.written
    records: list[Record] = [
        EventRecord(1, at, "ISOLATION", "cgroup"),
        EventRecord(2, at, "PREPARING", "38 of 52 packages"),
        StateRecord(3, at, Phase.RUNNING),
        EventRecord(4, at, "LEFTOVERS", "some"),
    ]
    for _ in range(2):  # it may come again
        context.reports.accept(bearer, records)

    kinds = [stored.event.kind for stored in context.store.events(context.job.uid)]
    assert [kind for kind in kinds if kind in ("ISOLATION", "PREPARING", "LEFTOVERS")] == [
        *("ISOLATION", "PREPARING", "LEFTOVERS")
    ]
    assert kinds.index("PREPARING") < kinds.index("RUNNING") < kinds.index("LEFTOVERS")
    assert context.store.written - before == 2, "one for each report"


def test_lines_of_a_trial_are_in_the_log_of_its_tuning_job(context: Desk) -> None:
    parent = JobUid("parent")
    context.store.create(make_job("projects/demo/jobs/tuning", uid=parent), ())
    for number in (1, 2):
        spec = replace(context.job.spec, trial=str(number))
        name = f"projects/demo/jobs/tuning-{number}"
        run = replace(make_job(name, spec=spec), tuning_job=parent)
        run = react(run, Admitted(context.clock.now())).job
        context.store.create(run, ())
        bearer = Bearer(run.attempt_id, MASTER)
        for _ in range(2):
            context.reports.accept(bearer, [context.line(n) for n in range(1, number + 2)])
        assert context.reports.accept(bearer, (), ended=True).acknowledged == number + 1
        assert context.logs.read(run.uid).entries == ()
    kept = [(e.trial, e.line.sequence) for e in context.logs.read(parent).entries]
    assert kept == [("1", 1), ("1", 2), ("2", 1), ("2", 2), ("2", 3)]


def test_what_comes_again_is_kept_once(context: Desk) -> None:
    records: list[Record] = [
        context.line(1),
        EventRecord(2, context.clock.now(), "PREPARING", "x"),
        context.line(3),
    ]
    for _ in range(3):
        assert (
            context.reports.accept(Bearer(context.job.attempt_id, MASTER), records).acknowledged
            == 3
        )

    assert context.kept() == [1, 3]
    assert len(context.store.events(context.job.uid)) == 1


def test_a_heartbeat_learns_that_the_end_is_wanted(context: Desk) -> None:
    assert not context.reports.accept(Bearer(context.job.attempt_id, MASTER), ()).stop
    context.happen(CancelRequested(context.clock.now()))

    receipt = context.reports.accept(Bearer(context.job.attempt_id, MASTER), ())
    assert (receipt.acknowledged, receipt.stop) == (0, True)


def test_evaluators_are_not_told_to_stop_at_once() -> None:
    context = Desk(workers=1, evaluators=1)
    exit_ = ExitRecord(1, context.clock.now(), Exit(ExitKind.EXITED, 0))
    context.reports.accept(Bearer(context.job.attempt_id, MASTER), [exit_])

    stops = {name: context.stops(name) for name in context.job.spec.replica_names()}
    assert stops == {MASTER: True, WORKER: True, EVALUATOR: False}
    context.job = context.now()
    context.happen(GraceExpired(context.clock.now()))
    assert context.stops(EVALUATOR)


def test_the_peers_of_a_lost_replica_are_told_to_stop() -> None:
    context = Desk(workers=1, together=True)
    assert not context.stops(MASTER)
    exit_ = ExitRecord(1, context.clock.now(), Exit(ExitKind.SIGNALLED, 9))
    context.reports.accept(Bearer(context.job.attempt_id, WORKER), [exit_])

    assert context.stops(MASTER)


def test_who_goes_on_for_a_dead_supervisor_learns_where(context: Desk) -> None:
    records: list[Record] = [context.line(1), EventRecord(2, context.clock.now(), "PREPARING", "x")]
    context.reports.accept(Bearer(context.job.attempt_id, MASTER), records)
    assert (
        context.reports.accept(Bearer(context.job.attempt_id, MASTER), (), ended=True).acknowledged
        == 2
    )

    context.reports.accept(Bearer(context.job.attempt_id, MASTER), [context.line(3)])
    assert (
        context.reports.accept(Bearer(context.job.attempt_id, MASTER), (), ended=True).acknowledged
        == 3
    )


def test_a_report_without_records_acknowledges_nothing_new(context: Desk) -> None:
    context.reports.accept(Bearer(context.job.attempt_id, MASTER), [context.line(1)])
    assert context.reports.accept(Bearer(context.job.attempt_id, MASTER), ()).acknowledged == 0

    context.happen(ReplicaGone(context.clock.now(), 1, MASTER, "the replica's supervisor was lost"))
    second = Bearer(context.job.attempt_id, MASTER, 1)
    assert context.reports.accept(second, ()).acknowledged == RESTART_SPAN


def test_samples_are_kept_once_and_count_for_who_goes_on(context: Desk) -> None:
    records: list[Record] = [context.line(1), UsageRecord(make_sample(2)), context.line(3)]
    records.append(UsageRecord(make_sample(4)))
    for _ in range(2):
        context.reports.accept(Bearer(context.job.attempt_id, MASTER), records)

    assert len(context.usage.read(context.job.uid, MASTER, 100)) == 2
    assert context.woken == 0
    assert (
        context.reports.accept(Bearer(context.job.attempt_id, MASTER), (), ended=True).acknowledged
        == 4
    )


def test_samples_that_can_not_be_kept_are_not_acknowledged(context: Desk) -> None:
    context.usage.full = True
    with pytest.raises(Unavailable):
        context.reports.accept(
            Bearer(context.job.attempt_id, MASTER), [UsageRecord(make_sample(1))]
        )


def test_lines_that_can_not_be_kept_are_not_acknowledged(context: Desk) -> None:
    context.logs.full = True
    exit_ = ExitRecord(2, context.clock.now(), Exit(ExitKind.EXITED, 0))

    with pytest.raises(Unavailable):
        context.reports.accept(Bearer(context.job.attempt_id, MASTER), [context.line(1), exit_])
    assert context.now().ending is None, "the exit waits for the lines before it"


def test_an_attempt_that_is_over_is_refused(context: Desk) -> None:
    with pytest.raises(PermissionDenied):
        context.reports.accept(Bearer(attempt_id(context.job.uid, 9), MASTER), [context.line(1)])
    assert context.kept() == []


def test_a_gang_that_reports_all_at_once_is_decided_upon_once_each() -> None:
    context = Desk(workers=29)
    names = [replica.name for replica in context.job.replicas]
    together = Barrier(len(names))

    def report(replica: str) -> int:
        together.wait()
        state = StateRecord(1, context.clock.now(), Phase.PREPARING)
        return context.reports.accept(Bearer(context.job.attempt_id, replica), [state]).acknowledged

    with ThreadPoolExecutor(len(names)) as threads:
        assert list(threads.map(report, names)) == [1] * len(names)

    assert {replica.phase for replica in context.now().replicas} == {Phase.PREPARING}
    assert context.store.refused == 0


def test_those_that_wait_are_told_when_the_last_of_a_gang_is_ready() -> None:
    context = Desk(workers=1)
    ready: list[JobUid] = []
    context.reports = replace(context.reports, ready=ready.append)
    for index, replica in enumerate((WORKER, MASTER)):
        assert ready == []
        address = Address("127.0.0.1", 5000 + index)
        state = StateRecord(1, context.clock.now(), Phase.READY, address)
        context.reports.accept(Bearer(context.job.attempt_id, replica), [state])
    assert ready == [context.job.uid]


def test_who_was_started_again_may_not_speak_any_more(context: Desk) -> None:
    context.happen(ReplicaGone(context.clock.now(), 1, MASTER, "the replica's supervisor was lost"))
    old, new = (Bearer(context.job.attempt_id, MASTER, restart) for restart in (0, 1))

    with pytest.raises(PermissionDenied, match="started again"):
        context.reports.accept(old, [context.line(1)])
    context.reports.accept(new, [context.line(RESTART_SPAN + 1)])
    assert context.kept() == [RESTART_SPAN + 1]


@pytest.mark.parametrize("number", [1, RESTART_SPAN, 2 * RESTART_SPAN + 1])
def test_records_of_one_start_can_not_pass_for_those_of_another(context: Desk, number: int) -> None:
    context.happen(ReplicaGone(context.clock.now(), 1, MASTER, "the replica's supervisor was lost"))

    with pytest.raises(InvalidArgument, match="restart 1"):
        context.reports.accept(Bearer(context.job.attempt_id, MASTER, 1), [context.line(number)])
    assert context.kept() == []
