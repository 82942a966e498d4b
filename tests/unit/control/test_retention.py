"""Old jobs and old logs go by themselves."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from footplate.control.job_deletion import JobDeletion
from footplate.control.job_lists import JobLists
from footplate.control.retention import INTERVAL_S, Retention
from footplate.control.service_log import ServiceLog
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.control.tuning.trials import Trials
from footplate.domain.errors import NotFound
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.names import parse_job_name
from footplate.domain.retention import KEEP_ALL, KeepTimes, read_keep_times
from footplate.ports.logs import Line
from footplate.store.observed_store import ObservedStore
from tests.support.clock import FakeClock
from tests.support.jobs import make_job
from tests.support.logs import MemoryLogs
from tests.support.store import MemoryStore
from tests.support.usage import MemoryUsage
from tests.support.usage_contract import make_sample

OLD = "projects/ads/jobs/old"
YOUNG = "projects/ads/jobs/young"
OTHER = "projects/lab/locations/us-central1/customJobs/7"
RUNNING = "projects/ads/locations/us-central1/customJobs/8"


def _ignore(*_: object) -> None:
    """Nobody follows."""


class Rig:
    """As in a server, events are copied into the logs."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        stored, self.logs = MemoryStore(), MemoryLogs(self.clock.now)
        copied = ServiceLog(stored, self.logs)
        self.store = ObservedStore(stored, _ignore, _ignore, logged=copied.follow)
        self.usage = MemoryUsage()
        now = self.clock.now()
        for name, age in ((OLD, 40), (YOUNG, 10), (OTHER, 40), (RUNNING, None)):
            job = make_job(name, created=now - timedelta(days=60), state=State.RUNNING)
            if age is not None:
                job = replace(job, state=State.FAILED, end_time=now - timedelta(days=age))
            self.store.create(job, ())
            self.logs.append(job.uid, 1, "master-0", [Line(1, now, "INFO", "hello")])
            self.usage.append(job.uid, 1, "master-0", [make_sample(2)])

    def make(self, keep_jobs: KeepTimes = KEEP_ALL, keep_logs: KeepTimes = KEEP_ALL) -> Retention:
        trials = Trials(self.store, self.store.studies, MeasurementCache(self.store.studies))
        deletion = JobDeletion(self.store, self.logs, self.usage, trials)
        lists = JobLists(self.store)
        return Retention(self.store, lists, self.logs, deletion, keep_jobs, keep_logs, self.clock)

    def job(self, name: str) -> Job:
        return self.store.get(parse_job_name(name))

    def has(self, name: str) -> bool:
        try:
            self.job(name)
        except NotFound:
            return False
        return True

    def texts(self, name: str) -> list[str]:
        return [each.line.message for each in self.logs.read(self.job(name).uid, 0, 10).entries]

    def kinds(self, name: str) -> list[str]:
        return [stored.event.kind for stored in self.store.events(self.job(name).uid)]


@pytest.fixture
def rig() -> Rig:
    return Rig()


def run(retention: Retention) -> None:
    """One pass, of as many steps as it takes."""
    for _ in range(100):
        if retention.step():
            return
    raise AssertionError("the pass has no end")


def keep(text: str) -> KeepTimes:
    return read_keep_times("keep_jobs", text)


def test_jobs_go_by_project_with_their_logs(rig: Rig) -> None:
    old = rig.job(OLD)
    run(rig.make(keep("lab=forever,*=30d")))
    assert [rig.has(name) for name in (OLD, YOUNG, OTHER, RUNNING)] == [False, True, True, True]
    assert not rig.logs.size(old.uid)
    assert rig.usage.replicas(old.uid) == ()
    assert rig.logs.size(rig.job(YOUNG).uid)


def test_an_active_job_stays_however_old_it_is(rig: Rig) -> None:
    run(rig.make(keep("0s")))
    assert [rig.has(name) for name in (OLD, YOUNG, OTHER, RUNNING)] == [False, False, False, True]


def test_logs_go_and_the_job_says_so_once(rig: Rig) -> None:
    retention = rig.make(keep_logs=keep("30d"))
    run(retention)
    assert rig.kinds(OLD) == rig.kinds(OTHER) == ["LOGS_DELETED"]
    assert rig.kinds(YOUNG) == rig.kinds(RUNNING) == []
    assert rig.texts(OLD) == [
        (
            "the server has deleted the log and the usage of this job, because the setting "
            "keep_logs says so"
        )
    ]
    assert rig.usage.replicas(rig.job(OLD).uid) == ()
    rig.clock.advance(INTERVAL_S)
    run(retention)
    run(rig.make(keep_logs=keep("30d")))
    assert rig.kinds(OLD) == ["LOGS_DELETED"], "another server tells it no second time"
    assert len(rig.texts(OLD)) == 1


def test_a_pass_is_due_each_hour(rig: Rig) -> None:
    retention = rig.make(keep("30d"))
    run(retention)
    rig.clock.advance(21 * 86_400.0 - INTERVAL_S)
    run(retention)
    assert rig.has(YOUNG) is False
    rig.clock.advance(INTERVAL_S / 2)
    assert retention.step() == INTERVAL_S / 2


def test_many_jobs_are_divided_into_steps(rig: Rig) -> None:
    for number in range(250):
        job = make_job(f"projects/ads/jobs/many_{number}", state=State.SUCCEEDED)
        ended = rig.clock.now() - timedelta(days=40, seconds=number)
        rig.store.create(replace(job, end_time=ended), ())
    retention = rig.make(keep("30d"))
    assert retention.step() == 0
    assert sum(rig.has(f"projects/ads/jobs/many_{number}") for number in range(250)) > 100
    run(retention)
    assert not any(rig.has(f"projects/ads/jobs/many_{number}") for number in range(250))
