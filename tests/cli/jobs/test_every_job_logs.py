"""``footplate jobs logs`` and what is told of a job beside its resource."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

from tests.support.fake_service import TIME, Answer, FakeService

PLACE = "projects/demo/locations/us-central1"
JOB = "projects/demo/jobs/census_1"
PIPELINE, TUNING = f"{PLACE}/trainingPipelines/9", f"{PLACE}/hyperparameterTuningJobs/9"


def line(cursor: int, message: str) -> dict[str, object]:
    return {
        "cursor": cursor,
        "timestamp": TIME,
        "severity": "INFO",
        "replica": "master-0",
        "attempt": 1,
        "message": message,
    }


@pytest.fixture
def known(fake: FakeService) -> FakeService:
    """A job that failed, and a pipeline that tunes."""
    fake.jobs[JOB] = {"jobId": "census_1", "state": "FAILED", "errorMessage": "It broke."}
    fake.jobs[TUNING] = {"name": TUNING, "state": "JOB_STATE_SUCCEEDED"}
    fake.lines[JOB] = [line(at, f"step {at}") for at in (1, 2, 3)]
    fake.lines[TUNING] = [line(1, "trial says hello")]
    fake.refusals["GET", f"/footplate/v1/{PIPELINE}/details"] = Answer(
        body={"name": PIPELINE, "spec": {"tuning": True}}
    )
    return fake


@pytest.mark.usefixtures("known")
def test_lines_are_printed_and_the_command_ends(invoke: Callable[..., Result]) -> None:
    whole = invoke("jobs", "logs", JOB)
    assert whole.exit_code == 0, "also of a job that failed: the command did not"
    assert whole.stdout.splitlines() == [f"master-0  step {at}" for at in (1, 2, 3)]
    assert invoke("jobs", "logs", JOB, "--tail=1").stdout == "master-0  step 3\n"


@pytest.mark.usefixtures("known")
def test_logs_of_several_jobs_have_heads(invoke: Callable[..., Result]) -> None:
    both = invoke("jobs", "logs", PIPELINE, JOB, "--tail=1")
    assert both.stdout.splitlines() == [
        f"==> {PIPELINE} <==",
        "master-0  trial says hello",
        f"==> {JOB} <==",
        "master-0  step 3",
    ]


def test_a_job_without_lines_says_so(known: FakeService, invoke: Callable[..., Result]) -> None:
    known.lines[JOB] = []
    assert "Job census_1 has printed nothing." in invoke("jobs", "logs", JOB).stderr


@pytest.mark.usefixtures("known")
def test_follow_ends_as_the_job_does(invoke: Callable[..., Result]) -> None:
    followed = invoke("jobs", "logs", JOB, "--follow")
    assert followed.exit_code == 1
    assert "step 3" in followed.stdout
    assert "It broke." in followed.stderr


@pytest.mark.usefixtures("known")
def test_describe_says_why_it_failed(invoke: Callable[..., Result]) -> None:
    shown = invoke("jobs", "describe", JOB)
    assert shown.exit_code == 0
    assert "jobId: census_1" in shown.stdout
    assert "It broke." in shown.stderr
