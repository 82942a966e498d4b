"""``trials --trial=N``: one trial in full."""

from __future__ import annotations

import json
from collections.abc import Callable

from click.testing import Result

from tests.support.fake_service import FakeService

from .conftest import JOB, answer, measured, trial

TRIALS = ("ai-platform", "jobs", "trials")


def test_one_that_went_well(invoke: Callable[..., Result], fake: FakeService, job: str) -> None:
    told = {"position": 1, "time": "2026-11-21T08:02:10Z", "source": "hypertune"}
    curve: list[tuple[float | str, int]] = [(0.9, 10), (0.5, 50), (0.21234567, 100), ("NaN", 110)]
    fake.measurements[JOB, 2] = [{**told, **measured(value, step)} for value, step in curve]
    assert invoke(*TRIALS, job, "--trial=2").stdout == (
        "trial:       2 of job census_1\n"
        "state:       SUCCEEDED, the best so far\n"
        "parameters:  learning_rate  0.001\n"
        "             optimizer      sgd\n"
        "             momentum       0.9\n"
        "result:      rmse 0.212346 at step 100\n"
        "curve:       █▄▁  rmse: 0.9 at step 10 to 0.212346 at step 100, 3 measurements\n"
        "time:        30s, 1m 00s of machine time, from 2026-11-21T08:02:00Z\n"
        "suggested:   exploit: expects rmse between 0.3 and 0.5\n"
        "prediction:  rmse: 0.4 (0.3 to 0.5), came out at 0.212346: better than expected\n"
        "best:        trial 9 is as good; this trial came first\n"
        "logs:        footplate ai-platform jobs stream-logs census_1-2\n"
    )


def test_one_that_failed(invoke: Callable[..., Result], fake: FakeService, job: str) -> None:
    error = "master-replica-0 ended with exit code 1: ZeroDivisionError"
    fake.jobs[f"{JOB}-3"] = {"jobId": "census_1-3", "state": "FAILED", "errorMessage": error}
    assert invoke(*TRIALS, job, "--trial=3").stdout == (
        "trial:           3 of job census_1\n"
        "state:           FAILED\n"
        "parameters:      learning_rate  0.01\n"
        "                 optimizer      adam\n"
        "time:            30s, 1m 00s of machine time, from 2026-11-21T08:03:00Z\n"
        "no result:       the program ended with exit code 1\n"
        f"its run failed:  {error}\n"
        "logs:            footplate ai-platform jobs stream-logs census_1-3\n"
    )
    document = json.loads(invoke(*TRIALS, job, "--trial=3", "--format=json").stdout)
    assert (document["number"], document["runError"], document["reports"]) == (3, error, [])


def test_one_that_waits_says_why(
    invoke: Callable[..., Result], fake: FakeService, job: str
) -> None:
    waiting = {**trial(5, "REQUESTED", parameters={"learning_rate": 0.1}), "startTime": ""}
    fake.trials[JOB] = [answer(waiting)]
    said = "Waits for 2 GPUs on this machine."
    run: dict[str, object] = {"jobId": "census_1-5", "state": "QUEUED", "pendingExplanation": said}
    fake.jobs[f"{JOB}-5"] = run
    lines = invoke(*TRIALS, job, "--trial=5").stdout.splitlines()
    assert lines[1:3] == ["state:       QUEUED", "waits:       for 2 GPUs on this machine."]


def test_a_run_that_failed_as_the_trial_did_is_told_once(
    invoke: Callable[..., Result], fake: FakeService, job: str
) -> None:
    error = "the program ended with exit code 1"
    fake.jobs[f"{JOB}-3"] = {"jobId": "census_1-3", "state": "FAILED", "errorMessage": error}
    assert invoke(*TRIALS, job, "--trial=3").stdout.count(error) == 1


def test_one_that_was_stopped(invoke: Callable[..., Result], job: str) -> None:
    lines = invoke(*TRIALS, job, "--trial=4").stdout.splitlines()
    assert "stopped early:  at step 10: 0.9, above 0.7" in lines


def test_one_that_there_is_not(invoke: Callable[..., Result], job: str) -> None:
    result = invoke(*TRIALS, job, "--trial=5")
    assert result.exit_code == 1
    assert result.stderr == (
        "Error: job census_1 has no trial 5: the job has trials 1 to 4; see `footplate "
        "ai-platform jobs trials census_1`\n"
    )
