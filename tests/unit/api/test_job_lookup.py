"""A job is found by its id alone, whichever API it came through and wherever it runs."""

from __future__ import annotations

import pytest

from footplate.api.logging_v2.job_lookup import JobFinder
from footplate.domain.errors import NotFound
from footplate.domain.jobs import Job
from footplate.domain.names import JobName, parse_job_name
from tests.support.jobs import make_job

HERE = "projects/demo/locations"
TRAINING = "projects/demo/jobs/job_1"
CUSTOM = f"{HERE}/us-central1/customJobs/17"
TUNING = f"{HERE}/europe-west4/hyperparameterTuningJobs/18"


class Jobs:
    """Those of these names, and which were asked for."""

    def __init__(self, *names: str) -> None:
        self._jobs = {parse_job_name(name): make_job(name) for name in names}
        self.asked: list[JobName] = []

    def get(self, name: JobName) -> Job:
        self.asked.append(name)
        if name not in self._jobs:
            raise NotFound(f"{name} does not exist")
        return self._jobs[name]


@pytest.fixture
def jobs() -> Jobs:
    return Jobs(TRAINING, CUSTOM, TUNING)


@pytest.fixture
def finder(jobs: Jobs) -> JobFinder:
    return JobFinder(jobs.get, ("us-central1", "europe-west4"))


@pytest.mark.parametrize(("job_id", "name"), [("job_1", TRAINING), ("17", CUSTOM), ("18", TUNING)])
def test_an_id_leads_to_its_job(finder: JobFinder, job_id: str, name: str) -> None:
    assert finder.find("demo", job_id).name == parse_job_name(name)


def test_an_id_is_searched_for_once(finder: JobFinder, jobs: Jobs) -> None:
    finder.find("demo", "18")
    jobs.asked.clear()
    finder.find("demo", "18")
    assert jobs.asked == [parse_job_name(TUNING)]


@pytest.mark.parametrize(("project", "job_id"), [("other", "17"), ("demo", "19"), ("demo", "job")])
def test_an_id_of_no_job_is_not_found(finder: JobFinder, project: str, job_id: str) -> None:
    with pytest.raises(NotFound):
        finder.find(project, job_id)
