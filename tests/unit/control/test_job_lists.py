"""Which jobs may have done something in a time."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from footplate.control.job_lists import JobLists
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.names import CustomJobName, TrainingJobName
from tests.support.jobs import CREATED, make_job
from tests.support.store import MemoryStore

DAYS = timedelta(days=1)


def make_lists() -> JobLists:
    """Of a project with a job that has ended on each of ten days, and one that runs."""
    store = MemoryStore()
    for day in range(10):
        name = TrainingJobName("demo", f"job_{day}")
        created = CREATED + day * DAYS
        ending = Ending(State.SUCCEEDED)
        ended = make_job(name, state=State.SUCCEEDED)
        store.create(replace(ended, create_time=created, end_time=created, ending=ending), ())
    running = make_job(CustomJobName("demo", "us-central1", "1"), state=State.RUNNING)
    store.create(replace(running, create_time=CREATED + 3 * DAYS), ())
    store.create(make_job(TrainingJobName("other", "job_1")), ())
    return JobLists(store)


def find(first: int | None, last: int | None, limit: int = 100) -> list[str]:
    start, end = (None if day is None else CREATED + day * DAYS for day in (first, last))
    return [job.name.job_id for job in make_lists().between("demo", start, end, limit)]


def test_all_jobs_of_a_project_newest_first() -> None:
    found = find(None, None)
    assert found[:3] == ["job_9", "job_8", "job_7"]
    assert sorted(found) == ["1", *(f"job_{day}" for day in range(10))]
    assert find(None, None, limit=4) == found[:4]


def test_a_day_more_on_either_side_for_clocks_that_differ() -> None:
    assert sorted(find(7, None)) == ["1", "job_6", "job_7", "job_8", "job_9"]
    assert sorted(find(None, 1)) == ["job_0", "job_1", "job_2"]
    assert sorted(find(5, 6)) == ["1", "job_4", "job_5", "job_6", "job_7"]
