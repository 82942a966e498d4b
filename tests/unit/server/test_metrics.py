"""What Prometheus finds of jobs and GPUs."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest

from footplate.api.request_counts import RequestCounts
from footplate.control.job_statistics import JobStatistics
from footplate.control.job_updates import apply
from footplate.control.reduction_stats import ReductionTotals
from footplate.control.status import Status
from footplate.domain.job_states import State
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.lifecycle import CancelRequested
from footplate.domain.sites import Gpu
from footplate.server.metrics import make_registry
from footplate.store.observed_store import ObservedStore
from tests.support.clock import FakeClock
from tests.support.jobs import make_job
from tests.support.sites import make_site
from tests.support.store import MemoryStore

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

JOB = "projects/ads/locations/us-central1/customJobs/7"
TRAINING = "projects/lab/jobs/census_1"
RUN = "projects/lab/jobs/census_1-3"
PLACE = {"project": "ads", "region": "us-central1"}


class Rig:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.statistics = JobStatistics()
        nothing = lambda *_: None  # noqa: E731
        self.store = ObservedStore(MemoryStore(), nothing, nothing, noted=self.statistics.note)

    def registry(
        self, gpus: tuple[Gpu, ...] = (), held: frozenset[str] = frozenset()
    ) -> CollectorRegistry:
        site = replace(make_site(), gpus=gpus)
        status = Status(self.store, self.clock, lambda: None)
        return make_registry(
            status,
            ReductionTotals(lambda: 0.0),
            RequestCounts(),
            self.statistics,
            (site,),
            lambda: {site.name: held},
        )

    def create(self, name: str, **more: object) -> Job:
        job = replace(make_job(name, created=self.clock.now()), **more)  # type: ignore[arg-type]  # fields by name
        self.store.create(job, (JobEvent(job.create_time, "QUEUED", ""),))
        return job

    def enter(self, job: Job, state: State, after_s: float) -> Job:
        """As the service writes it: the job, and an event of its new state."""
        self.clock.advance(after_s)
        after = replace(job, state=state, attempt=1, version=job.version + 1)
        if state.terminal:
            after = replace(after, end_time=self.clock.now())
        self.store.update(after, (JobEvent(self.clock.now(), state.value, "", 1),))
        return after


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_ended_jobs_are_counted_by_result_and_place(rig: Rig) -> None:
    job = rig.create(JOB)
    rig.enter(job, State.FAILED, 5)
    queued = rig.create(TRAINING)
    apply(rig.store, queued.uid, CancelRequested(rig.clock.now(), ""))
    apply(rig.store, queued.uid, CancelRequested(rig.clock.now(), ""))
    rig.enter(rig.create(RUN, tuning_job=queued.uid), State.SUCCEEDED, 1)
    registry = rig.registry()

    def ended(project: str, kind: str, result: str) -> float | None:
        labels = {"project": project, "region": "us-central1", "kind": kind, "result": result}
        return registry.get_sample_value("footplate_jobs_ended_total", labels)

    assert ended("ads", "customJobs", "FAILED") == 1
    assert ended("lab", "jobs", "CANCELLED") == 1, "the second request changes nothing"
    assert ended("lab", "trial", "SUCCEEDED") == 1
    assert ended("ads", "customJobs", "SUCCEEDED") is None


def test_times_are_histograms(rig: Rig) -> None:
    for waits_s, takes_s in ((2, 100), (70, 20)):
        job = rig.create(f"{JOB}{waits_s}")
        job = rig.enter(job, State.PREPARING, waits_s)
        job = rig.enter(job, State.RUNNING, takes_s)
        rig.enter(job, State.SUCCEEDED, 1000)
    registry = rig.registry()

    def sample(name: str, **labels: str) -> float | None:
        return registry.get_sample_value(f"footplate_job_{name}", PLACE | labels)

    assert sample("waiting_seconds_sum") == 72
    assert sample("waiting_seconds_count") == 2
    assert sample("waiting_seconds_bucket", le="5.0") == 1
    assert sample("waiting_seconds_bucket", le="300.0") == 2
    assert sample("preparation_seconds_sum") == 120
    assert sample("preparation_seconds_bucket", le="60.0") == 1


def test_a_further_attempt_has_no_waiting_time(rig: Rig) -> None:
    job = replace(rig.create(JOB), attempt=2, state=State.PREPARING, version=2)
    rig.clock.advance(timedelta(days=2).total_seconds())
    rig.store.update(job, (JobEvent(rig.clock.now(), "PREPARING", "", 2),))
    assert rig.registry().get_sample_value("footplate_job_waiting_seconds_count", PLACE) is None


def test_gpus_are_held_or_idle(rig: Rig) -> None:
    gpus = tuple(Gpu(str(at), "NVIDIA_TESLA_T4") for at in range(3))
    registry = rig.registry((*gpus, Gpu("9", None, "RTX 9")), frozenset({"1", "2"}))
    found = {
        (s.labels["type"], s.labels["state"]): s.value
        for family in registry.collect()
        for s in family.samples
        if s.name == "footplate_gpus"
    }
    assert found == {
        ("NVIDIA_TESLA_T4", "held"): 2,
        ("NVIDIA_TESLA_T4", "idle"): 1,
        ("RTX 9", "held"): 0,
        ("RTX 9", "idle"): 1,
    }
