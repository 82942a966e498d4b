"""Who hears of silence, and what comes of it: fakes of all that stands around."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from footplate.control.hangs import LONGEST_GAP_S, HangLimits, HangWatch
from footplate.control.tokens import Bearer
from footplate.domain.errors import Code, Unavailable
from footplate.domain.jobs import Address
from footplate.domain.lifecycle import Admitted, ReplicaReady, ReplicaRunning, react
from footplate.domain.log_lines import Line
from footplate.domain.states import State
from footplate.domain.usage import Counters, Sample
from footplate.ports.backend import Presence, Sighting
from footplate.wire.replica_v1 import LineRecord, UsageRecord
from tests.support.clock import FakeClock
from tests.support.jobs import make_job, make_spec
from tests.support.store import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.jobs import Job, JobEvent
    from footplate.domain.names import JobUid
    from footplate.wire.replica_v1 import Record

MASTER, WORKER = "master-replica-0", "worker-replica-0"
LIMITS = HangLimits(usage_s=10.0, heartbeat_s=30.0, hang_s=600.0)
HEARING_S = 10.0


class House:
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
            self.store, self.clock, self.limits, HEARING_S, self._stacks, self._wake
        )
        self.look()

    def _wake(self, uid: JobUid) -> None:
        assert uid == self.uid
        self.woken += 1

    def _stacks(self, job: Job) -> str:
        self.asked.append(job.attempt)
        return "all are in recv"

    @property
    def job(self) -> Job:
        return self.store.get_by_uid(self.uid)

    def look(self) -> float | None:
        job = self.job
        self.watch.begin([job])
        sightings = {
            replica.name: Sighting(job.attempt_id, replica.name, Presence.LIVE)
            for replica in job.replicas
        }
        return self.watch.look(job, sightings)

    def hear(self, replica: str, *records: Record) -> None:
        self.watch.hear(Bearer(self.job.attempt_id, replica), records)

    def sample(self, quiet_s: float, *replicas: str, stopped: bool = False) -> None:
        """Ten seconds pass, then these replicas (all if none is named) are sampled."""
        self.clock.advance(10.0)
        for name in replicas or (MASTER, WORKER):
            self.numbers[name] += 1
            counters = Counters(10.0 * self.numbers[name], 0.0)
            now = self.clock.now()
            self.hear(
                name,
                UsageRecord(Sample(self.numbers[name], now, counters, quiet_s, stopped=stopped)),
            )

    def told(self) -> list[str]:
        return [event.kind for event in self.events()]

    def events(self) -> Sequence[JobEvent]:
        return [stored.event for stored in self.store.events(self.uid)]


@pytest.fixture
def house() -> House:
    return House()


def test_a_hang_is_told_at_once_and_once(house: House) -> None:
    house.sample(590.0)
    house.look()
    assert (house.told(), house.woken) == ([], 0)
    house.sample(600.0, MASTER)
    house.sample(610.0)
    assert house.woken == 2, "each replica's silence has become too long"
    house.look()
    house.sample(620.0)
    house.look()
    assert (house.told(), house.woken) == (["HANG"], 2)


def test_another_server_does_not_tell_it_again_and_tells_of_its_end(house: House) -> None:
    house.sample(700.0)
    house.look()
    house.be_reborn()
    assert house.told() == ["HANG"]
    house.sample(720.0)
    house.look()
    assert house.told() == ["HANG"]
    house.be_reborn()
    house.sample(3.0)
    house.look()
    assert house.told() == ["HANG", "HANG_OVER"]


def test_a_death_between_the_telling_and_its_remembering_doubles_nothing(house: House) -> None:
    house.sample(700.0)
    house.look()
    house.watch._told.clear()
    house.look()
    assert house.told() == ["HANG"]


def test_where_it_can_not_be_written_it_is_told_later(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise Unavailable("the database is away")

    house.sample(700.0)
    with monkeypatch.context() as patch:
        patch.setattr(house.store, "append", refuse)
        with pytest.raises(Unavailable):
            house.look()
    house.look()
    assert house.told() == ["HANG"]


def test_a_line_breaks_a_silence(house: House) -> None:
    house.sample(700.0)
    house.clock.advance(1.0)
    house.hear(WORKER, LineRecord(Line(99, house.clock.now(), "INFO", "hello")))
    house.look()
    assert house.told() == []


def test_a_stop_wakes_and_is_told_and_so_is_its_end(house: House) -> None:
    house.sample(1.0, stopped=True)
    house.look()
    assert (house.told(), house.woken) == ([], 0)
    house.sample(1.0, WORKER, stopped=True)
    assert house.woken == 1
    house.look()
    house.sample(1.0, WORKER)
    assert house.woken == 2
    house.look()
    events = [(event.kind, event.replica) for event in house.events()]
    assert events == [("STOPPED_BY_SIGNAL", WORKER), ("CONTINUED", WORKER)]


def test_of_whom_nothing_is_heard_for_three_heartbeats(house: House) -> None:
    assert house.look() == 90.0
    house.clock.advance(60.0)
    house.hear(MASTER)
    assert house.look() == 30.0
    house.clock.advance(30.0)
    house.look()
    assert [(event.kind, event.replica) for event in house.events()] == [("SILENT", WORKER)]
    house.hear(WORKER)
    house.look()
    assert house.told() == ["SILENT", "HEARD_AGAIN"]


def test_a_machine_that_slept_blames_nobody(house: House) -> None:
    house.hear(MASTER)
    house.hear(WORKER)
    for jump_s in (LONGEST_GAP_S + 1.0, 8 * 3600.0, -3600.0):
        house.clock.advance(jump_s)
        house.look()
    assert house.told() == []
    house.clock.advance(90.0)
    house.look()
    assert house.told() == ["SILENT", "SILENT"]


def test_a_start_in_place_of_another_one_is_listened_for_anew(house: House) -> None:
    house.clock.advance(80.0)
    house.look()
    job = house.job
    again = tuple(replace(r, restart=1) if r.name == WORKER else r for r in job.replicas)
    house.store.update(replace(job, replicas=again, version=job.version + 1), ())
    house.look()
    house.clock.advance(15.0)
    house.look()
    assert [(event.kind, event.replica) for event in house.events()] == [("SILENT", MASTER)]


def test_after_too_long_a_silence_the_job_is_ended_with_its_stacks() -> None:
    house = House(replace(LIMITS, end_s=1000.0))
    house.sample(700.0)
    due_s = house.look()
    assert due_s is not None
    assert due_s <= 300.0
    house.sample(1100.0)
    house.watch.end(house.job)
    ending = house.job.ending
    assert ending is not None
    assert (ending.state, ending.code) == (State.FAILED, Code.DEADLINE_EXCEEDED)
    assert ending.message == "nothing was printed, reported or written for 1000 s"
    assert ("STACKS", "all are in recv") in [(e.kind, e.message) for e in house.events()]


def test_who_speaks_while_stacks_are_collected_goes_on() -> None:
    house = House(replace(LIMITS, end_s=1000.0))
    house.sample(1100.0)
    house.sample(2.0, WORKER)
    for _ in range(2):
        house.watch.end(house.job)
    assert house.job.ending is None
    assert house.told() == ["STACKS"]


def test_nobody_is_remembered_whose_job_is_over(house: House) -> None:
    house.sample(700.0)
    house.look()
    house.watch.begin([])
    assert not house.watch._heard
    assert not house.watch._told

    house.sample(700.0)
    house.look()
    house.watch.forget(house.uid)
    assert not house.watch._heard
    assert not house.watch._told


def test_without_samples_and_heartbeats_nothing_is_watched() -> None:
    house = House(HangLimits(usage_s=0.0, heartbeat_s=0.0, hang_s=600.0))
    house.clock.advance(timedelta(days=1).total_seconds())
    assert house.look() is None
    assert house.told() == []
