"""Who hears of silence, and what comes of it: fakes of all that stands around."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from footplate.control.hang_detection import LONGEST_GAP_S, HangLimits, HangWatch
from footplate.control.job_updates import apply
from footplate.control.tokens import Bearer
from footplate.domain.errors import Code, Unavailable
from footplate.domain.job_states import State
from footplate.domain.jobs import Address, Exit, ExitKind, Job, JobEvent
from footplate.domain.lifecycle import (
    Admitted,
    JudgementDue,
    ReplicaExited,
    ReplicaReady,
    ReplicaRunning,
    react,
)
from footplate.domain.log_lines import Line
from footplate.domain.names import JobUid
from footplate.domain.replica_records import LineRecord, Record, UsageRecord
from footplate.domain.usage import Counters, Sample
from footplate.ports.backend import Presence, ReplicaObservation
from tests.support.clock import FakeClock
from tests.support.jobs import make_job, make_spec
from tests.support.store import MemoryStore

MASTER, WORKER = "master-replica-0", "worker-replica-0"
LIMITS = HangLimits(usage_s=10.0, heartbeat_s=30.0, hang_s=600.0)
REPORT_GRACE_S = 10.0


class Rig:
    """A job of two replicas that runs, and a watch that may be made anew."""

    def __init__(self, limits: HangLimits = LIMITS) -> None:
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.limits = limits
        self.woken = 0
        self.asked: list[int] = []
        now = self.clock.now()
        job = react(make_job(spec=make_spec(workers=1)), Admitted(now)).job
        for name in (MASTER, WORKER):
            job = react(job, ReplicaReady(now, 1, name, Address("127.0.0.1", 4000))).job
        for name in (MASTER, WORKER):
            job = react(job, ReplicaRunning(now, 1, name)).job
        assert job.state is State.RUNNING
        self.uid = job.uid
        self.store.create(replace(job, version=1), ())
        self.numbers = {MASTER: 0, WORKER: 0}
        self.be_reborn()

    def be_reborn(self) -> None:
        self.watch = HangWatch(
            self.store, self.clock, self.limits, REPORT_GRACE_S, self._stacks, self._wake
        )
        self.inspect()

    def _wake(self, uid: JobUid) -> None:
        assert uid == self.uid
        self.woken += 1

    def _stacks(self, job: Job) -> str:
        self.asked.append(job.attempt)
        return "all are in recv"

    @property
    def job(self) -> Job:
        return self.store.get_by_uid(self.uid)

    def inspect(self) -> float | None:
        job = self.job
        self.watch.begin([job])
        observations = {
            replica.name: ReplicaObservation(job.attempt_id, replica.name, Presence.LIVE)
            for replica in job.replicas
        }
        return self.watch.inspect(job, observations)

    def receive(self, replica: str, *records: Record) -> None:
        self.watch.receive(Bearer(self.job.attempt_id, replica), records)

    def sample(
        self, quiet_s: float, *replicas: str, stopped: bool = False, cpus: float = 0.0
    ) -> None:
        """Ten seconds pass, then these replicas (all if none is named) are sampled."""
        self.clock.advance(10.0)
        for name in replicas or (MASTER, WORKER):
            self.numbers[name] += 1
            seconds = 10.0 * self.numbers[name]
            counters = Counters(seconds, cpus * seconds)
            now = self.clock.now()
            self.receive(
                name,
                UsageRecord(Sample(self.numbers[name], now, counters, quiet_s, stopped=stopped)),
            )

    def told(self) -> list[str]:
        return [event.kind for event in self.events()]

    def events(self) -> Sequence[JobEvent]:
        return [stored.event for stored in self.store.events(self.uid)]


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_a_hang_is_told_at_once_and_once(rig: Rig) -> None:
    rig.sample(590.0)
    rig.inspect()
    assert (rig.told(), rig.woken) == ([], 0)
    rig.sample(600.0, MASTER)
    rig.sample(610.0)
    assert rig.woken == 2, "each replica's silence has become too long"
    rig.inspect()
    rig.sample(620.0)
    rig.inspect()
    assert (rig.told(), rig.woken) == (["HANG"], 2)


def test_another_server_does_not_tell_it_again_and_tells_of_its_end(rig: Rig) -> None:
    rig.sample(700.0)
    rig.inspect()
    rig.be_reborn()
    assert rig.told() == ["HANG"]
    rig.sample(720.0)
    rig.inspect()
    assert rig.told() == ["HANG"]
    rig.be_reborn()
    rig.sample(3.0)
    rig.inspect()
    assert rig.told() == ["HANG", "HANG_OVER"]


def test_a_death_between_the_telling_and_its_remembering_doubles_nothing(rig: Rig) -> None:
    rig.sample(700.0)
    rig.inspect()
    rig.watch._told.clear()
    rig.inspect()
    assert rig.told() == ["HANG"]


def test_where_it_can_not_be_written_it_is_told_later(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Unavailable("the database is away")

    rig.sample(700.0)
    with monkeypatch.context() as patch:
        patch.setattr(rig.store, "append", refuse)
        with pytest.raises(Unavailable):
            rig.inspect()
    rig.inspect()
    assert rig.told() == ["HANG"]


def test_a_line_breaks_a_silence(rig: Rig) -> None:
    rig.sample(700.0)
    rig.clock.advance(1.0)
    rig.receive(WORKER, LineRecord(Line(99, rig.clock.now(), "INFO", "hello")))
    rig.inspect()
    assert rig.told() == []


def test_a_stop_wakes_and_is_told_and_so_is_its_end(rig: Rig) -> None:
    rig.sample(1.0, stopped=True)
    rig.inspect()
    assert (rig.told(), rig.woken) == ([], 0)
    rig.sample(1.0, WORKER, stopped=True)
    assert rig.woken == 1
    rig.inspect()
    rig.sample(1.0, WORKER)
    assert rig.woken == 2
    rig.inspect()
    events = [(event.kind, event.replica) for event in rig.events()]
    assert events == [("STOPPED_BY_SIGNAL", WORKER), ("CONTINUED", WORKER)]


def test_of_whom_nothing_is_heard_for_three_heartbeats(rig: Rig) -> None:
    assert rig.inspect() == 90.0
    rig.clock.advance(60.0)
    rig.receive(MASTER)
    assert rig.inspect() == 30.0
    rig.clock.advance(30.0)
    rig.inspect()
    assert [(event.kind, event.replica) for event in rig.events()] == [("SILENT", WORKER)]
    rig.receive(WORKER)
    rig.inspect()
    assert rig.told() == ["SILENT", "HEARD_AGAIN"]


def test_a_machine_that_slept_blames_nobody(rig: Rig) -> None:
    rig.receive(MASTER)
    rig.receive(WORKER)
    for jump_s in (LONGEST_GAP_S + 1.0, 8 * 3600.0, -3600.0):
        rig.clock.advance(jump_s)
        rig.inspect()
    assert rig.told() == []
    rig.clock.advance(90.0)
    rig.inspect()
    assert rig.told() == ["SILENT", "SILENT"]


def test_a_start_in_place_of_another_one_is_listened_for_anew(rig: Rig) -> None:
    rig.clock.advance(80.0)
    rig.inspect()
    job = rig.job
    again = tuple(replace(r, restart=1) if r.name == WORKER else r for r in job.replicas)
    rig.store.update(replace(job, replicas=again, version=job.version + 1), ())
    rig.inspect()
    rig.clock.advance(15.0)
    rig.inspect()
    assert [(event.kind, event.replica) for event in rig.events()] == [("SILENT", MASTER)]


def test_after_too_long_a_silence_the_job_is_ended_with_its_stacks() -> None:
    rig = Rig(replace(LIMITS, end_s=1000.0))
    rig.sample(700.0)
    due_s = rig.inspect()
    assert due_s is not None
    assert due_s <= 300.0
    rig.sample(1100.0)
    rig.watch.end(rig.job)
    ending = rig.job.ending
    assert ending is not None
    assert (ending.state, ending.code) == (State.FAILED, Code.DEADLINE_EXCEEDED)
    assert ending.message == "no program has printed, reported or written anything for 1000 s"
    assert ("STACKS", "all are in recv") in [(e.kind, e.message) for e in rig.events()]


BUG = Exit(ExitKind.EXITED, 1, "ValueError: bad")


def fail(rig: Rig) -> None:
    """The worker, and its failure is judged."""
    now = rig.clock.now()
    apply(rig.store, rig.uid, ReplicaExited(now, 1, WORKER, BUG, steady_at=rig.clock.steady(now)))
    apply(rig.store, rig.uid, JudgementDue(now, 1))
    assert rig.job.ending is None


def test_a_primary_that_waits_for_a_failed_replica_ends_after_its_silence() -> None:
    rig = Rig()
    rig.sample(590.0, MASTER)
    fail(rig)
    for quiet_s in (600.0, 900.0, 1190.0):
        rig.sample(quiet_s, MASTER)
        rig.inspect()
        rig.watch.end(rig.job)
        assert rig.job.ending is None, "it is as long silent as before the failure"
    rig.clock.advance(560.0)
    rig.sample(1200.0, MASTER)
    rig.watch.end(rig.job)

    ending = rig.job.ending
    assert ending is not None
    assert (ending.state, ending.code) == (State.FAILED, Code.INVALID_ARGUMENT)
    assert ending.message == (
        f"replica {WORKER} exited with code 1: ValueError: bad; then no program has printed, "
        "reported or written anything for 600 s"
    )


@pytest.mark.parametrize(
    ("quiet_s", "cpus", "stopped"), [(3.0, 0.0, False), (5000.0, 1.0, False), (5000.0, 0.0, True)]
)
def test_a_primary_that_prints_works_or_is_stopped_goes_on_without_a_failed_replica(
    quiet_s: float,
    cpus: float,
    stopped: bool,  # noqa: FBT001  a parameter of the test
) -> None:
    rig = Rig()
    fail(rig)
    for _ in range(3):
        rig.clock.advance(1000.0)
        rig.sample(quiet_s, MASTER, cpus=cpus, stopped=stopped)
        rig.watch.end(rig.job)

    assert rig.job.ending is None


def test_who_speaks_while_stacks_are_collected_goes_on() -> None:
    rig = Rig(replace(LIMITS, end_s=1000.0))
    rig.sample(1100.0)
    rig.sample(2.0, WORKER)
    for _ in range(2):
        rig.watch.end(rig.job)
    assert rig.job.ending is None
    assert rig.told() == ["STACKS"]


def test_nobody_is_remembered_whose_job_is_over(rig: Rig) -> None:
    rig.sample(700.0)
    rig.inspect()
    rig.watch.begin([])
    assert not rig.watch._heard
    assert not rig.watch._told

    rig.sample(700.0)
    rig.inspect()
    rig.watch.forget(rig.uid)
    assert not rig.watch._heard
    assert not rig.watch._told


def test_without_samples_and_heartbeats_nothing_is_watched() -> None:
    rig = Rig(HangLimits(usage_s=0.0, heartbeat_s=0.0, hang_s=600.0))
    rig.clock.advance(timedelta(days=1).total_seconds())
    assert rig.inspect() is None
    assert rig.told() == []
