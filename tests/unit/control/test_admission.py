"""Admission over a store in memory: who starts, who waits, and what is said about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from footplate.control import job_queue
from footplate.control.admission import MAX_NOTIFIED_AT_ONCE, Admission
from footplate.control.job_queue import Queue
from footplate.control.job_updates import apply
from footplate.domain.errors import DataLoss, Unavailable
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Job, JobEvent, MachineSpec, Scheduling
from footplate.domain.lifecycle import CancelRequested, ReplicaRunning
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quota, Quotas
from footplate.domain.sites import Gpu, Mode, Site
from footplate.store import ObservedStore
from tests.support.catalogue import built_in
from tests.support.clock import FakeClock
from tests.support.crashes import Crash, CrashPoint, mortal
from tests.support.jobs import MACHINE, make_job, make_spec
from tests.support.sites import make_regions, make_site
from tests.support.store import MemoryStore

T4 = MachineSpec("n1-standard-4", "NVIDIA_TESLA_T4", 1)
TWO_T4 = MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2)


class Rig:
    """A store that outlives the service, and a service that may be made anew."""

    def __init__(self, site: Site | None = None, quotas: Quotas | None = None) -> None:
        self.clock = FakeClock()
        self.kept = MemoryStore()
        self.crash_point = CrashPoint()
        self.regions = make_regions(site or make_site(replicas=2))
        self.quotas = quotas or Quotas()
        self.restart()

    def restart(self) -> None:
        writes = mortal(self.kept, self.crash_point, "update", "append")
        self.store = ObservedStore(
            writes, lambda *written: self.queue.changed(*written), lambda _: None
        )
        self.queue = Queue(
            self.store, self.regions, built_in(), 3600.0, self.clock, lambda: self.quotas
        )
        self.admission = Admission(self.store, self.queue, self.regions, built_in(), self.clock)

    def submit(
        self,
        name: str,
        *,
        workers: int = 0,
        machine: MachineSpec = MACHINE,
        scheduling: Scheduling | None = None,
        project: str = "demo",
    ) -> Job:
        self.clock.advance(1.0)
        spec = make_spec(workers=workers, machine=machine, scheduling=scheduling)
        made = f"projects/{project}/jobs/{name}"
        job = make_job(made, uid=name, created=self.clock.now(), spec=spec)
        self.store.create(job, ())
        return job

    def end(self, job: Job) -> None:
        now = self.store.get_by_uid(job.uid)
        ending = Ending(State.SUCCEEDED)
        ended = replace(now, state=State.SUCCEEDED, ending=ending, version=now.version + 1)
        self.store.update(ended, ())

    def states(self) -> dict[JobUid, State]:
        return {job.uid: job.state for job in self.kept.active()}

    def told(self, job: Job) -> list[str]:
        events = [stored.event for stored in self.kept.events(job.uid)]
        return [event.message for event in events if event.kind == "WAITING"]


def test_as_many_start_as_there_is_room_for_and_the_others_are_told_why_once() -> None:
    rig = Rig()
    first, second, third = (rig.submit(name) for name in ("one", "two", "three"))

    assert rig.admission.admit()
    assert not rig.admission.admit()

    assert rig.states() == {
        "one": State.PREPARING,
        "two": State.PREPARING,
        "three": State.QUEUED,
    }
    assert rig.told(first) == rig.told(second) == []
    [text] = rig.told(third)
    explanation = rig.queue.explain(rig.kept.get_by_uid(third.uid))
    assert explanation is not None
    assert (explanation.text, explanation.place) == (text, 1)
    assert "one" in text

    rig.store.update(replace(third, labels=(("a", "b"),), version=third.version + 1), ())
    rig.queue.explain(third)
    assert rig.admission.seconds_to_due() is None, "who was told needn't be told again"


def test_room_that_comes_free_is_taken() -> None:
    rig = Rig()
    jobs = [rig.submit(name) for name in ("one", "two", "three")]
    rig.admission.admit()
    rig.end(jobs[0])

    assert rig.admission.admit()

    assert rig.states() == {"two": State.PREPARING, "three": State.PREPARING}
    assert rig.queue.explain(rig.kept.get_by_uid(jobs[2].uid)) is None


def test_what_was_written_unheard_is_seen_after_a_refresh() -> None:
    """By another server, of which this one was told nothing: jobs that ended, and new quotas."""
    rig = Rig()
    jobs = [rig.submit(name) for name in ("one", "two", "three", "four")]
    rig.admission.admit()
    for job in jobs[:2]:
        now = rig.kept.get_by_uid(job.uid)
        ended = replace(now, state=State.SUCCEEDED, ending=Ending(State.SUCCEEDED))
        rig.kept.update(replace(ended, version=now.version + 1), ())
    rig.quotas = Quotas((Quota("demo", "*", {"jobs": 1}),))
    assert not rig.admission.admit(), "nobody has told it"

    rig.queue.refresh()

    assert rig.admission.admit()
    assert rig.states() == {"three": State.PREPARING, "four": State.QUEUED}
    assert dict(rig.queue.held("demo", "us-central1"))["jobs"] == 1


def test_what_was_written_unheard_is_seen_by_the_sweep() -> None:
    rig = Rig(quotas=Quotas((Quota("demo", "*", {"jobs": 1}),)))
    jobs = [rig.submit(name) for name in ("one", "two", "three")]
    rig.admission.admit()
    rig.quotas = Quotas()
    now = rig.kept.get_by_uid(jobs[0].uid)
    ended = replace(now, state=State.SUCCEEDED, ending=Ending(State.SUCCEEDED))
    rig.kept.update(replace(ended, version=now.version + 1), ())
    assert not rig.admission.admit(), "nobody has told it"

    rig.clock.advance(job_queue.SWEEP_S)

    assert rig.admission.admit()
    assert rig.states() == {"two": State.PREPARING, "three": State.PREPARING}
    assert not rig.admission.seconds_to_due()


def test_changes_that_nobody_asks_for_take_no_more_room_than_a_refresh(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(job_queue, "MOST_CHANGED", 2)
    rig = Rig()
    for name in ("one", "two", "three", "four"):
        rig.submit(name)
    assert len(rig.queue._changed) <= 2
    rig.admission.admit()
    assert list(rig.states().values()).count(State.PREPARING) == 2


def test_a_job_that_was_told_as_written_is_not_read() -> None:
    rig = Rig(make_site(replicas=1))
    job = rig.submit("one")
    rig.admission.admit()
    held = rig.kept.get_by_uid(job.uid)
    assert dict(rig.queue.held("demo", "us-central1"))["jobs"] == 1
    rig.queue.changed(job.uid, replace(held, version=held.version + 1, state=State.CANCELLED))

    assert dict(rig.queue.held("demo", "us-central1")).get("jobs", 0) == 0


def test_a_late_notification_brings_nothing_back() -> None:
    rig = Rig(make_site(replicas=1))
    ended, waiting = rig.submit("one"), rig.submit("two")
    submitted = rig.kept.get_by_uid(ended.uid)
    rig.admission.admit()
    admitted = rig.kept.get_by_uid(ended.uid)
    rig.end(ended)
    rig.admission.admit()
    overtaken = replace(rig.kept.get_by_uid(waiting.uid), version=1, attempt=0)
    for late in (submitted, admitted, overtaken):
        rig.queue.changed(late.uid, late)
        assert rig.queue.admit() == ()

    assert dict(rig.queue.held("demo", "us-central1"))["jobs"] == 1
    rig.end(waiting)
    assert dict(rig.queue.held("demo", "us-central1")).get("jobs", 0) == 0


def test_writers_that_notify_in_another_order_than_they_wrote() -> None:
    rig = Rig(make_site(replicas=1))
    job = rig.submit("one")
    rig.admission.admit()
    admitted = rig.kept.get_by_uid(job.uid)
    rig.end(job)
    ended = rig.kept.get_by_uid(job.uid)
    rig.queue.changed(job.uid, ended)
    rig.queue.changed(job.uid, admitted)

    assert dict(rig.queue.held("demo", "us-central1")).get("jobs", 0) == 0


def test_a_new_service_goes_on_where_the_last_one_died() -> None:
    rig = Rig()
    for name in ("one", "two", "three"):
        rig.submit(name)
    rig.admission.admit()
    rig.restart()

    assert not rig.admission.admit()
    assert rig.states()[make_job(uid="three").uid] is State.QUEUED
    assert rig.told(rig.kept.active({State.QUEUED})[0])[1:] == [], "told once, not twice"


def test_a_job_with_many_warnings_is_told_once_too() -> None:
    rig = Rig(make_site(replicas=1))
    rig.submit("one")
    waiting = rig.submit("two")
    warnings = [JobEvent(rig.clock.now(), "WARNING", f"number {n}") for n in range(100)]
    rig.store.append(waiting.uid, warnings)
    rig.admission.admit()
    rig.restart()
    rig.admission.admit()

    assert len(rig.told(waiting)) == 1


@pytest.mark.parametrize("points", range(6))
def test_a_death_between_any_two_writes_starts_nothing_twice_and_loses_nothing(
    points: int,
) -> None:
    rig = Rig()
    for name in ("one", "two", "three"):
        rig.submit(name)
    rig.crash_point.arm(points)
    with pytest.raises(Crash):
        rig.admission.admit()
    rig.crash_point.disarm()
    rig.restart()

    rig.admission.admit()

    assert sorted(state.value for state in rig.states().values()) == [
        "PREPARING",
        "PREPARING",
        "QUEUED",
    ]


def away(*_: object) -> None:
    raise Unavailable("the database is away")


def test_a_store_that_is_away_costs_nothing_but_time(monkeypatch: pytest.MonkeyPatch) -> None:
    rig = Rig()
    rig.submit("one")
    with monkeypatch.context() as patch:
        patch.setattr(rig.kept, "update", away)
        with pytest.raises(Unavailable):
            rig.admission.admit()

    assert rig.admission.admit()
    assert set(rig.states().values()) == {State.PREPARING}


def test_gpus_are_given_to_one_job_at_a_time_and_noted_in_its_record() -> None:
    rig = Rig(make_site(replicas=9, gpus=3))
    first = rig.submit("first", machine=TWO_T4)
    second = rig.submit("second", machine=TWO_T4)
    third = rig.submit("third", machine=T4)
    rig.admission.admit()

    assert rig.kept.get_by_uid(first.uid).primary.devices == ("0", "1")
    assert rig.kept.get_by_uid(second.uid).state is State.QUEUED
    assert "NVIDIA_TESLA_T4" in rig.told(second)[0] or "GPU" in rig.told(second)[0]
    rig.end(first)
    rig.restart()
    rig.admission.admit()

    running = [job for job in rig.kept.active() if job.state is State.PREPARING]
    devices = [d for job in running for replica in job.replicas for d in replica.devices]
    assert sorted(devices) == ["0", "1", "2"]
    assert {job.uid for job in running} == {second.uid, third.uid}


def test_no_gpu_is_given_twice_whoever_looks_at_the_queue_meanwhile(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig(make_site(replicas=9, gpus=2))
    first, second = (rig.submit(name, machine=T4) for name in ("first", "second"))
    update = rig.kept.update

    def meddle(job: Job, events: Sequence[JobEvent]) -> None:
        """Before the first start is written: others label the job, and ask why the next waits."""
        monkeypatch.undo()
        stored = rig.kept.get_by_uid(first.uid)
        labelled = replace(stored, labels=(("a", "b"),), version=stored.version + 1)
        rig.store.update(labelled, ())
        rig.queue.explain(rig.kept.get_by_uid(second.uid))
        update(job, events)

    monkeypatch.setattr(rig.kept, "update", meddle)
    rig.admission.admit()

    started = [rig.kept.get_by_uid(job.uid) for job in (first, second)]
    assert [job.state for job in started] == [State.PREPARING, State.PREPARING]
    assert started[0].labels == (("a", "b"),)
    assert [job.primary.devices for job in started] == [("0",), ("1",)]


def test_a_gpu_that_was_given_before_the_mode_changed_is_not_counted_on() -> None:
    """A job that asks for a T4 was given the V100: who asks for that one has to wait, and says so,
    and others start meanwhile.
    """
    rig = Rig(make_site(replicas=9))
    v100, t4 = (Gpu(str(i), f"NVIDIA_TESLA_{name}") for i, name in enumerate(("V100", "T4")))
    both = replace(make_site(Mode.EMULATE, vcpus=24, memory_gb=99), gpus=(v100, t4))
    rig.regions = make_regions(both)
    rig.restart()
    first = rig.submit("first", machine=TWO_T4)
    rig.admission.admit()
    assert set(rig.kept.get_by_uid(first.uid).primary.devices) == {"0", "1"}

    rig.regions = make_regions(replace(both, mode=Mode.ENFORCE))
    rig.restart()
    second = rig.submit("second", machine=MachineSpec("n1-standard-8", "NVIDIA_TESLA_V100", 1))
    third = rig.submit("third", machine=MachineSpec("n1-standard-16"))
    rig.admission.admit()

    assert rig.kept.get_by_uid(third.uid).state is State.PREPARING
    [text] = rig.told(second)
    assert text.startswith("Waits for 1 NVIDIA_TESLA_V100")
    assert "first holds 1" in text


def test_gpus_that_do_not_exist_are_done_without_and_the_job_says_so() -> None:
    rig = Rig()
    job = rig.submit("one", machine=TWO_T4)
    rig.admission.admit()

    events = [stored.event for stored in rig.kept.events(job.uid)]
    [note] = [event for event in events if event.kind == "EMULATED"]
    assert "without its 2 NVIDIA_TESLA_T4" in note.message


def test_quotas_hold_for_a_project_and_can_be_changed() -> None:
    rig = Rig(make_site(replicas=9), Quotas((Quota("ads", "*", {"jobs": 1}),)))
    for name, project in (("one", "ads"), ("two", "ads"), ("three", "demo")):
        rig.submit(name, project=project)
    rig.admission.admit()
    assert rig.states()[make_job(uid="two").uid] is State.QUEUED
    assert rig.queue.held("ads", "us-central1") == {"jobs": 1, "vcpus": 4}
    assert "quota" in rig.told(rig.kept.active({State.QUEUED})[0])[0]

    rig.quotas = Quotas()
    rig.queue.quotas_changed()
    rig.admission.admit()

    assert set(rig.states().values()) == {State.PREPARING}


def test_the_quotas_that_hold_are_those_that_were_set_last() -> None:
    """A reader in between, however long that takes, hides no later ones."""
    rig = Rig(make_site(replicas=9), Quotas((Quota("ads", "*", {"jobs": 1}),)))
    two_jobs = Quotas((Quota("ads", "*", {"jobs": 2}),))
    reads: list[Quotas] = []

    def read() -> Quotas:
        before = rig.quotas
        if not reads:  # they change, and that is told, while they are read for the first time
            rig.quotas = two_jobs
            rig.queue.quotas_changed()
        reads.append(before)
        return before

    rig.queue = Queue(rig.store, rig.regions, built_in(), 3600.0, rig.clock, read)
    rig.queue.held("ads", "us-central1")
    rig.admission = Admission(rig.store, rig.queue, rig.regions, built_in(), rig.clock)
    for name in ("one", "two", "three"):
        rig.submit(name, project="ads")
    rig.admission.admit()

    states = sorted(state.value for state in rig.states().values())
    assert states == ["PREPARING", "PREPARING", "QUEUED"]


def test_quotas_that_cannot_be_read_now_are_read_later() -> None:
    rig = Rig(make_site(replicas=9), Quotas((Quota("ads", "*", {"jobs": 1}),)))
    faults = [Unavailable("the database is away")]

    def read() -> Quotas:
        if faults:
            raise faults.pop()
        return rig.quotas

    rig.queue = Queue(rig.store, rig.regions, built_in(), 3600.0, rig.clock, read)
    with pytest.raises(Unavailable):
        rig.queue.admit()
    for name in ("one", "two"):
        rig.submit(name, project="ads")

    assert len(rig.queue.admit()) == 1


def test_a_job_that_has_waited_long_enough_is_cancelled_on_time_also_by_another_service() -> None:
    rig = Rig(make_site(replicas=1))
    rig.submit("one")
    rig.submit("two", scheduling=Scheduling(max_wait_time_s=1800.0))
    rig.admission.admit()
    assert rig.admission.seconds_to_due() == 1800.0

    rig.clock.advance(1799.5)
    rig.restart()
    rig.admission.admit()
    assert rig.states()[make_job(uid="two").uid] is State.QUEUED
    assert rig.admission.seconds_to_due() == 0.5

    rig.clock.advance(0.5)
    rig.admission.admit()
    job = rig.kept.get_by_uid(make_job(uid="two").uid)
    assert job.state is State.CANCELLED
    assert job.ending is not None
    assert "longest waiting time of 1800 s" in job.ending.message
    assert job.end_time == job.create_time + timedelta(seconds=1800)
    assert rig.admission.seconds_to_due() is None


def test_a_store_that_is_away_for_a_moment_makes_nobody_wait_longer_than_it_may(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig(make_site(replicas=1))
    rig.submit("one")
    limited = Scheduling(max_wait_time_s=1800.0)
    jobs = [rig.submit(name, scheduling=limited) for name in ("two", "three", "four")]
    rig.admission.admit()
    rig.clock.advance(1800.0)
    with monkeypatch.context() as patch:
        patch.setattr(rig.kept, "update", away)
        with pytest.raises(Unavailable):
            rig.admission.admit()

    rig.admission.admit()

    assert {rig.kept.get_by_uid(job.uid).state for job in jobs} == {State.CANCELLED}


def test_a_store_that_is_away_for_a_moment_leaves_nobody_untold(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rig = Rig(make_site(replicas=1))
    jobs = [rig.submit(name) for name in ("one", "two", "three")]
    with monkeypatch.context() as patch:
        patch.setattr(rig.kept, "append", away)
        with pytest.raises(Unavailable):
            rig.admission.admit()

    rig.admission.admit()

    assert [len(rig.told(job)) for job in jobs] == [0, 1, 1]


@pytest.mark.parametrize(("name", "holders"), [("get_by_uid", 1), ("events", 2)])
def test_a_job_whose_record_is_damaged_holds_up_no_other(
    name: str, holders: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(make_site(replicas=2))
    first = rig.submit("one")
    rig.admission.admit()
    bad = rig.submit("bad")
    good = rig.submit("good")
    rig.queue.explain(good)
    read = getattr(rig.kept, name)

    def damaged(uid: JobUid, *limits: int) -> object:
        if uid == bad.uid:
            raise DataLoss("the stored record of job bad can't be read")
        return read(uid, *limits)

    with monkeypatch.context() as patch:
        patch.setattr(rig.kept, name, damaged)
        rig.admission.admit()
        rig.admission.admit()
        rig.end(first)
        rig.admission.admit()

        assert rig.states()[good.uid] is State.PREPARING
        assert rig.queue.held("demo", "us-central1")["jobs"] == holders
        assert rig.admission.seconds_to_due() is None


def test_whoever_has_started_or_left_is_waited_for_no_more() -> None:
    rig = Rig(make_site(replicas=1))
    limited = Scheduling(max_wait_time_s=1800.0)
    rig.submit("one", scheduling=limited)
    second = rig.submit("two", scheduling=limited)
    rig.admission.admit()
    assert rig.admission.seconds_to_due() == 1800.0, "of the second, who waits"

    apply(rig.store, second.uid, CancelRequested(rig.clock.now()))
    rig.admission.admit()

    assert rig.admission.seconds_to_due() is None


def test_gpus_of_a_job_whose_record_is_damaged_are_given_to_nobody(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its program may still use them."""
    rig = Rig(make_site(replicas=9, gpus=1))
    first = rig.submit("one", machine=T4)
    rig.admission.admit()
    rig.admission.admit()
    read = rig.kept.get_by_uid

    def damaged(uid: JobUid) -> Job:
        if uid == first.uid:
            raise DataLoss("the stored record of job one can't be read")
        return read(uid)

    monkeypatch.setattr(rig.kept, "get_by_uid", damaged)
    rig.queue.changed(first.uid)
    second = rig.submit("two", machine=T4)
    rig.admission.admit()

    assert rig.states()[second.uid] is State.QUEUED


def test_many_new_jobs_are_told_in_portions_that_hold_up_nothing_else() -> None:
    rig = Rig(make_site(replicas=1))
    jobs = [rig.submit(f"job{n}") for n in range(MAX_NOTIFIED_AT_ONCE + 5)]
    rig.admission.admit()
    assert rig.admission.seconds_to_due() == 0.0

    rig.admission.admit()

    assert rig.admission.seconds_to_due() is None
    assert all(len(rig.told(job)) == 1 for job in jobs[1:])


def test_what_would_become_of_a_job_that_came_now() -> None:
    rig = Rig(make_site(replicas=2))
    spec = make_spec(workers=1)
    assert rig.queue.outlook(spec, "demo") is None

    first = rig.submit("one")
    rig.admission.admit()

    outlook = rig.queue.outlook(spec, "demo")
    assert outlook is not None
    assert outlook.place == 1
    assert rig.queue.outlook(make_spec(), "demo") is None
    assert not rig.admission.admit()

    rig.end(first)
    rig.submit("two", workers=1)
    rig.admission.admit()
    assert rig.states() == {"two": State.PREPARING}, "asking leaves nothing behind"


@pytest.mark.parametrize("mode", list(Mode))
def test_a_job_whose_machine_type_has_left_the_catalogue(mode: Mode) -> None:
    """It starts where nothing is reserved; else nothing could hold it to its machine."""
    rig = Rig(make_site(mode))
    rig.submit("other")
    job = rig.submit("one", machine=MachineSpec("own-8"))
    rig.admission.admit()

    after = rig.kept.get_by_uid(job.uid)
    assert rig.states()[make_job(uid="other").uid] is State.PREPARING
    if mode is Mode.EMULATE:
        assert after.state is State.PREPARING
    else:
        assert after.state is State.FAILED
        assert after.ending is not None
        assert "no longer has machine type own-8" in after.ending.message
        assert rig.queue.held("demo", "us-central1")["jobs"] == 1


def test_the_end_of_a_job_is_expected_by_when_it_began_to_run() -> None:
    """Whatever was written to it since."""
    rig = Rig(make_site(replicas=1))
    first = rig.submit("first", scheduling=Scheduling(max_running_time_s=3000.0))
    second = rig.submit("second")
    rig.admission.admit()
    began = rig.clock.now()
    apply(rig.store, first.uid, ReplicaRunning(began, 1, first.spec.replica_names()[0]))
    rig.clock.advance(1000.0)
    stored = rig.kept.get_by_uid(first.uid)
    now = rig.clock.now()
    rig.store.update(replace(stored, update_time=now, version=stored.version + 1), ())

    explanation = rig.queue.explain(second)
    assert explanation is not None
    assert explanation.starts_by == began.timestamp() + 3000.0


def test_in_enforce_mode_machines_are_reserved() -> None:
    rig = Rig(make_site(Mode.ENFORCE, vcpus=8, memory_gb=32, gpus=1))
    rig.submit("one", machine=T4)
    rig.submit("two", machine=T4)
    rig.submit("three")
    rig.admission.admit()

    assert rig.states() == {
        "one": State.PREPARING,
        "two": State.QUEUED,
        "three": State.PREPARING,
    }
