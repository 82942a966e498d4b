"""A tuning job after its creation: what custom jobs have, and delete."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from click.testing import Result

from tests.support.fake_service import TIME, FakeService

GROUP = ("ai", "hp-tuning-jobs")
COLLECTION = "projects/demo/locations/us-central1/hyperparameterTuningJobs"
NAME = f"{COLLECTION}/7"


@pytest.fixture(autouse=True)
def job(fake: FakeService) -> None:
    fake.jobs[NAME] = {
        "name": NAME,
        "displayName": "census",
        "state": "JOB_STATE_RUNNING",
        "createTime": TIME,
        "studySpec": {"metrics": [{"metricId": "rmse"}]},
    }


def test_describe(invoke: Callable[..., Result]) -> None:
    assert invoke(*GROUP, "describe", "7", "--format=value(state)").stdout == "JOB_STATE_RUNNING\n"
    assert invoke(*GROUP, "describe", NAME, "--format=value(state)").exit_code == 0


def test_describe_as_a_table(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.trials[NAME] = [
        {
            "name": NAME,
            "state": "RUNNING",
            "metrics": [{"name": "a", "goal": "MINIMIZE"}, {"name": "b", "goal": "MINIMIZE"}],
            "parameters": [],
            "counts": {"trials": 9},
            "best": [1, 2],
            "trials": [
                {"number": 1, "state": "SUCCEEDED", "parameters": {}},
                {"number": 2, "state": "SUCCEEDED", "parameters": {}},
                {"number": 3, "state": "ACTIVE", "parameters": {}},
            ],
        }
    ]
    heading, row = invoke(*GROUP, "describe", "7", "--format=table").stdout.splitlines()
    assert heading.split()[-2:] == ["TRIALS", "BEST"]
    assert row.endswith(f"{TIME}  2 of 9, 1 running  trials 1, 2")


def test_list(invoke: Callable[..., Result]) -> None:
    assert invoke(*GROUP, "list", "--uri").stdout == f"{NAME}\n"
    assert invoke(*GROUP, "list", "--filter=state=JOB_STATE_RUNNING").stdout.splitlines() == [
        f"{'NAME':<{len(NAME)}}  DISPLAY_NAME  STATE              CREATED",
        f"{NAME}  census        JOB_STATE_RUNNING  {TIME}",
    ]


def test_cancel_and_delete(invoke: Callable[..., Result], fake: FakeService) -> None:
    assert invoke(*GROUP, "cancel", "7").stderr == (
        f"Job 7 is cancelled.\n  footplate ai hp-tuning-jobs describe {NAME}\n"
    )
    assert invoke(*GROUP, "delete", "7").stderr == "Job 7 is deleted.\n"
    assert not fake.jobs


@pytest.mark.parametrize(("state", "code"), [("SUCCEEDED", 0), ("FAILED", 1), ("CANCELLED", 1)])
def test_stream_logs_ends_as_the_job(
    invoke: Callable[..., Result], fake: FakeService, state: str, code: int
) -> None:
    fake.jobs[NAME]["state"] = f"JOB_STATE_{state}"
    assert invoke(*GROUP, "stream-logs", "7").exit_code == code


def test_events(invoke: Callable[..., Result], fake: FakeService) -> None:
    event = {"number": 1, "time": TIME, "kind": "TRIAL_ENDED", "message": "trial 1: rmse = 0.5"}
    fake.events[NAME] = [event]
    assert invoke(*GROUP, "events", "7").stdout == (
        "2026-11-21T08:00:00Z  TRIAL_ENDED: trial 1: rmse = 0.5\n"
    )


def test_a_job_of_another_kind(invoke: Callable[..., Result]) -> None:
    result = invoke("ai", "custom-jobs", "describe", NAME)
    assert result.stderr == f"Error: '{NAME}' is a tuning job; see `footplate ai hp-tuning-jobs`\n"
    result = invoke(*GROUP, "describe", "projects/demo/jobs/census_1")
    assert result.stderr == (
        "Error: 'projects/demo/jobs/census_1' is a training job; see `footplate ai-platform jobs`\n"
    )
