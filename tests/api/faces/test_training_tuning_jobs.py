"""Tuning jobs of ml v1 over HTTP, and with Google's own client."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from googleapiclient import discovery

from footplate.domain.admission import Explanation
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Job
from footplate.domain.names import TrainingJobName
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.parameters import Value
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.trials import TrialState
from tests.support.jobs import CREATED
from tests.support.jobs_service import MemoryJobs
from tests.support.trials import succeeded

if TYPE_CHECKING:
    import httpx

JOBS = "/v1/projects/demo/jobs"
NAME = TrainingJobName("demo", "search_1")
TAG = "val loss"
PARAMS = [
    {"parameterName": "lr", "type": "DOUBLE", "minValue": 0.01, "maxValue": 1.0},
    {"parameterName": "units", "type": "INTEGER", "minValue": 1, "maxValue": 64},
    {"parameterName": "batch", "type": "DISCRETE", "discreteValues": [16, 32.5]},
    {"parameterName": "opt", "type": "CATEGORICAL", "categoricalValues": ["adam", "sgd"]},
]
POINT: Mapping[str, Value] = {"lr": 0.1, "units": 32, "batch": 16.0, "opt": "adam"}


def body(**more: object) -> dict[str, object]:
    search = {
        "goal": "MINIMIZE",
        "hyperparameterMetricTag": TAG,
        "maxTrials": 9,
        "maxParallelTrials": 2,
        "params": PARAMS,
    }
    training = {
        "region": "us-central1",
        "runtimeVersion": "2.11",
        "pythonVersion": "3.7",
        "packageUris": ["gs://b/trainer-0.1.tar.gz"],
        "pythonModule": "trainer.task",
        "hyperparameters": search,
        **more,
    }
    return {"jobId": NAME.job_id, "trainingInput": training}


@pytest.fixture
def job(http: httpx.Client, jobs: MemoryJobs) -> Job:
    answer = http.post(JOBS, json=body(enableWebAccess=True))
    assert answer.status_code == 200, answer.text
    return jobs.get(NAME)


def trial(number: int, loss: float, **more: Any) -> TrialRecord:
    """One that has ended so."""
    made = succeeded(number, loss, **more)
    return replace(made, point=POINT, final=Measurement({TAG: loss}, 10))


def active(number: int) -> TrialRecord:
    return TrialRecord(number, POINT, CREATED, TrialState.ACTIVE, CREATED)


def output(http: httpx.Client) -> Any:
    return http.get(f"{JOBS}/{NAME.job_id}").json()["trainingOutput"]


def test_a_search_that_has_only_begun(http: httpx.Client, job: Job) -> None:
    assert output(http) == {
        "isHyperparameterTuningJob": True,
        "hyperparameterMetricTag": TAG,
        "completedTrialCount": "0",
    }
    request = http.get(f"{JOBS}/{NAME.job_id}").json()["trainingInput"]
    assert request == body(enableWebAccess=True)["trainingInput"]


def test_a_trial_that_has_ended(http: httpx.Client, jobs: MemoryJobs, job: Job) -> None:
    jobs.kept_trials.keep(job, trial(1, 0.5))
    told = output(http)
    assert told["completedTrialCount"] == "1"
    assert told["trials"] == [
        {
            "trialId": "1",
            "hyperparameters": {"lr": "0.1", "units": "32", "batch": "16", "opt": "adam"},
            "state": "SUCCEEDED",
            "finalMetric": {"trainingStep": "10", "objectiveValue": 0.5},
            "startTime": "2026-01-02T03:05:05.678901Z",
            "endTime": "2026-01-02T03:06:05.678901Z",
        }
    ]


def test_while_it_runs_by_number_then_by_merit(
    http: httpx.Client, jobs: MemoryJobs, job: Job
) -> None:
    failed = replace(trial(2, 0.0), state=TrialState.INFEASIBLE, final=None)
    jobs.kept_trials.keep(
        job,
        trial(1, 0.7),
        failed,
        trial(3, 0.2, machine_s=90.0),
        trial(4, 0.2, machine_s=30.0),
    )
    jobs.run(NAME)
    assert [t["trialId"] for t in output(http)["trials"]] == ["1", "2", "3", "4"]
    jobs.end(NAME, Ending(State.SUCCEEDED))
    told = output(http)
    assert [t["trialId"] for t in told["trials"]] == ["4", "3", "1", "2"], "equal: the cheaper one"
    assert told["completedTrialCount"] == "3"


def test_how_trials_end(http: httpx.Client, jobs: MemoryJobs, job: Job) -> None:
    why = "val loss was nan at step 3, which is not a number, so the trial has no result"
    lost = replace(
        trial(1, math.nan),
        state=TrialState.INFEASIBLE,
        outcome=State.SUCCEEDED,
        infeasible_reason=why,
    )
    cancelled = replace(
        trial(2, 0.5),
        state=TrialState.INFEASIBLE,
        outcome=State.CANCELLED,
        infeasible_reason="cancelled by request",
        final=None,
    )
    stopped = replace(trial(3, 0.5), outcome=State.CANCELLED, stop_reason="at step 10: ...")
    jobs.kept_trials.keep(job, lost, cancelled, stopped)
    one, two, three = output(http)["trials"]
    assert (one["state"], one["errorMessage"]) == ("FAILED", why)
    assert "finalMetric" not in one, "who sorts by it wants numbers"
    assert (two["state"], two["errorMessage"]) == ("CANCELLED", "cancelled by request")
    assert (three["state"], three["isTrialStoppedEarly"]) == ("SUCCEEDED", True)


def test_trials_that_run_are_where_their_runs_are(
    http: httpx.Client, jobs: MemoryJobs, job: Job
) -> None:
    waiting = TrialRecord(3, POINT, CREATED)
    jobs.kept_trials.keep(job, active(1), active(2), waiting)
    jobs.start_trial(NAME, 1, State.RUNNING)
    jobs.start_trial(NAME, 2, State.SUCCEEDED)
    jobs.start_trial(NAME, 3)
    one, two, three = output(http)["trials"]
    assert one["state"] == "RUNNING"
    assert one["webAccessUris"] == {
        "master-replica-0": f"{http.base_url}/shell/v1/master-replica-0"
    }
    assert two["state"] == "RUNNING", "it isn't judged yet"
    assert three["state"] == "QUEUED"
    assert "startTime" not in three


def test_lists_have_no_trials(http: httpx.Client, jobs: MemoryJobs, job: Job) -> None:
    jobs.kept_trials.keep(job, active(1))
    (listed,) = http.get(JOBS).json()["jobs"]
    assert listed["jobId"] == NAME.job_id
    assert listed["trainingOutput"] == {
        "isHyperparameterTuningJob": True,
        "hyperparameterMetricTag": TAG,
    }


def test_a_job_waits_as_its_first_trial_does(
    http: httpx.Client, jobs: MemoryJobs, job: Job
) -> None:
    jobs.waiting = Explanation(2, "Waits for room", "Waits for room: x holds all of it.")
    jobs.start_trial(NAME, 1)
    told = http.get(f"{JOBS}/{NAME.job_id}").json()
    assert told["pendingExplanation"] == "Trial 1: Waits for room: x holds all of it."
    assert told["jobPosition"] == "2"


def test_the_run_of_a_trial_is_a_job_by_its_name_alone(
    http: httpx.Client, jobs: MemoryJobs, job: Job
) -> None:
    run = jobs.start_trial(NAME, 1, State.RUNNING)
    told = http.get(f"{JOBS}/{run.name.job_id}").json()
    assert told["state"] == "RUNNING"
    assert "isHyperparameterTuningJob" not in told["trainingOutput"]


def test_a_resumed_search_has_what_it_inherits(
    http: httpx.Client, jobs: MemoryJobs, job: Job
) -> None:
    resumed = body(hyperparameters={"resumePreviousJobId": NAME.job_id, "maxTrials": 3})
    answer = http.post(JOBS, json={**resumed, "jobId": "search_2"}).json()
    assert answer["trainingOutput"]["hyperparameterMetricTag"] == TAG
    assert answer["trainingInput"]["hyperparameters"] == {
        "resumePreviousJobId": NAME.job_id,
        "maxTrials": 3,
    }


def test_googles_client_reads_the_best_trial(
    url: str, anonymous: Any, jobs: MemoryJobs, job: Job
) -> None:
    jobs.kept_trials.keep(job, trial(1, 0.7), trial(2, 0.2))
    jobs.end(NAME, Ending(State.SUCCEEDED))
    options = {"api_endpoint": url}
    with discovery.build("ml", "v1", client_options=options, credentials=anonymous) as ml:
        told = ml.projects().jobs().get(name=str(NAME)).execute()["trainingOutput"]
    best = told["trials"][0]
    assert (best["trialId"], best["finalMetric"]["objectiveValue"]) == ("2", 0.2)
