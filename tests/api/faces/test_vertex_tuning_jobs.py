"""Tuning jobs of aiplatform v1 over HTTP, and with Google's own client."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from google.cloud import aiplatform, aiplatform_v1

from footplate.domain.admission import Explanation
from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Job
from footplate.domain.names import parse_job_name
from footplate.domain.studies.metrics import Selection
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.trials import TrialState
from tests.api.faces.test_vertex_clients import POOL
from tests.api.faces.test_vertex_v1 import P, body, tuning_body
from tests.support.jobs import CREATED
from tests.support.jobs_service import MemoryJobs
from tests.support.trials import succeeded

if TYPE_CHECKING:
    import httpx

JOBS = f"/v1/{P}/hyperparameterTuningJobs"


@pytest.fixture
def job(http: httpx.Client, jobs: MemoryJobs) -> Job:
    return jobs.get(parse_job_name(http.post(JOBS, json=tuning_body()).json()["name"]))


def active(number: int) -> TrialRecord:
    return TrialRecord(number, {"lr": 0.5}, CREATED, TrialState.ACTIVE, CREATED)


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
def test_create_get_cancel_delete(http: httpx.Client, jobs: MemoryJobs, version: str) -> None:
    given = tuning_body(labels={"a": "b"}, maxFailedTrialCount=2)
    created = http.post(f"/{version}/{P}/hyperparameterTuningJobs", json=given).json()
    name = created["name"]
    assert name.startswith(f"{P}/hyperparameterTuningJobs/")
    assert name.rpartition("/")[2].isdigit()
    assert {field: created[field] for field in given} == given
    assert created["state"] == "JOB_STATE_QUEUED"
    assert http.get(f"/{version}/{name}").json() == created
    assert http.delete(f"/{version}/{name}").status_code == 400
    assert http.post(f"/{version}/{name}:cancel", json={}).json() == {}
    assert http.get(f"/v1/{name}").json()["state"] == "JOB_STATE_CANCELLING"
    jobs.end(parse_job_name(name), Ending(State.CANCELLED, Code.CANCELLED, "as asked"))
    cancelled = http.get(f"/{version}/{name}").json()
    assert (cancelled["state"], cancelled["error"]["code"]) == ("JOB_STATE_CANCELLED", 1)
    operation = http.delete(f"/{version}/{name}").json()
    assert operation["done"] is True
    for prefix in ("ui", "v1", "v1beta1"):
        assert http.get(f"/{prefix}/{operation['name']}").json() == operation
    assert http.get(f"/{version}/{name}").status_code == 404


def test_the_operation_of_a_job_that_is_there_never_was(http: httpx.Client, job: Job) -> None:
    made_up = f"delete-v1-hyperparameterTuningJobs-{job.name.job_id}-17"
    assert http.get(f"/v1/{P}/operations/{made_up}").status_code == 404


def test_a_tuning_job_is_no_custom_job(http: httpx.Client, job: Job) -> None:
    assert http.get(f"/v1/{P}/customJobs").json() == {}
    assert http.get(f"/v1/{P}/customJobs/{job.name.job_id}").status_code == 404
    custom = http.post(f"/v1/{P}/customJobs", json=body()).json()["name"].rpartition("/")[2]
    assert http.get(f"{JOBS}/{custom}").status_code == 404
    assert [j["name"] for j in http.get(JOBS).json()["hyperparameterTuningJobs"]] == [str(job.name)]


def test_trials_by_number_with_what_they_reported(
    http: httpx.Client, jobs: MemoryJobs, job: Job
) -> None:
    jobs.kept_trials.keep(job, replace(succeeded(1, 0.5), point={"lr": 0.25}), active(2))
    jobs.start_trial(job.name, 2, State.RUNNING)
    jobs.kept_trials.report(job, 1, 5, loss=0.75, other=3.0)
    jobs.kept_trials.report(job, 1, 10, loss=0.5)
    jobs.kept_trials.report(job, 2, 5, loss=math.nan)
    one, two = http.get(f"/v1/{job.name}").json()["trials"]
    assert one == {
        "name": f"{job.name}/trials/1",
        "id": "1",
        "state": "SUCCEEDED",
        "parameters": [{"parameterId": "lr", "value": 0.25}],
        "finalMeasurement": {
            "elapsedDuration": "60s",
            "stepCount": "10",
            "metrics": [{"metricId": "loss", "value": 0.5}],
        },
        "measurements": [
            {
                "elapsedDuration": f"{step}s",
                "stepCount": f"{step}",
                "metrics": [{"metricId": "loss", "value": value}],
            }
            for step, value in ((5, 0.75), (10, 0.5))
        ],
        "startTime": "2026-01-02T03:05:05.678901Z",
        "endTime": "2026-01-02T03:06:05.678901Z",
        "customJob": f"{P}/customJobs/{job.name.job_id}-1",
    }
    assert (two["id"], two["state"]) == ("2", "ACTIVE")
    assert two["measurements"][0]["metrics"] == [{"metricId": "loss", "value": "NaN"}]
    assert http.get(f"/v1/{two['customJob']}").json()["name"] == two["customJob"]


def test_lists_have_no_trials(http: httpx.Client, jobs: MemoryJobs, job: Job) -> None:
    jobs.kept_trials.keep(job, active(1))
    (listed,) = http.get(JOBS).json()["hyperparameterTuningJobs"]
    assert listed == {k: v for k, v in http.get(f"/v1/{job.name}").json().items() if k != "trials"}


def test_a_trial_that_runs_has_shells(http: httpx.Client, jobs: MemoryJobs) -> None:
    spec = {**tuning_body()["trialJobSpec"], "enableWebAccess": True}  # type: ignore[dict-item] # an object
    made = http.post(JOBS, json=tuning_body(trialJobSpec=spec)).json()
    job = jobs.get(parse_job_name(made["name"]))
    jobs.kept_trials.keep(job, active(1))
    jobs.start_trial(job.name, 1, State.RUNNING)
    (trial,) = http.get(f"/v1/{job.name}").json()["trials"]
    assert trial["webAccessUris"] == {"workerpool0-0": f"{http.base_url}/shell/v1/workerpool0-0"}


def test_a_trial_that_never_began_was_never_run(
    http: httpx.Client, jobs: MemoryJobs, job: Job
) -> None:
    dropped = TrialRecord(
        1,
        {"lr": 0.5},
        CREATED,
        TrialState.INFEASIBLE,
        end_time=CREATED,
        outcome=State.CANCELLED,
        infeasible_reason="the job ended before this trial started",
    )
    jobs.kept_trials.keep(job, dropped)
    (trial,) = http.get(f"/v1/{job.name}").json()["trials"]
    assert "customJob" not in trial
    assert trial["infeasibleReason"] == "the job ended before this trial started"


def test_a_job_waits_as_its_first_trial_does(
    http: httpx.Client, jobs: MemoryJobs, job: Job
) -> None:
    assert "pendingExplanation" not in http.get(f"/v1/{job.name}").json()
    jobs.waiting = Explanation(1, "Waits for room", "Waits for room: 7 holds all of it.")
    jobs.start_trial(job.name, 1, State.RUNNING)
    jobs.start_trial(job.name, 2)
    told = http.get(f"/v1/{job.name}").json()
    assert told["pendingExplanation"] == "Trial 2: Waits for room: 7 holds all of it."
    assert http.get(JOBS).json()["hyperparameterTuningJobs"] == [told]
    jobs.end(job.name, Ending(State.SUCCEEDED))
    assert "pendingExplanation" not in http.get(f"/v1/{job.name}").json()


def test_why_a_search_failed(http: httpx.Client, jobs: MemoryJobs, job: Job) -> None:
    jobs.end(job.name, Ending(State.FAILED, Code.ABORTED, "the first trial failed"))
    told = http.get(f"/v1/{job.name}").json()
    assert told["state"] == "JOB_STATE_FAILED"
    assert told["error"] == {"code": Code.ABORTED, "message": "the first trial failed"}


def test_googles_client_reads_all_of_it(
    url: str, anonymous: Any, http: httpx.Client, jobs: MemoryJobs, job: Job
) -> None:
    ended = replace(succeeded(1, math.inf), point={"lr": 0.25, "opt": "adam", "n": 3})
    jobs.kept_trials.keep(job, ended, active(2))
    jobs.kept_trials.report(job, 1, 7, loss=math.nan)
    client = aiplatform_v1.JobServiceClient(
        transport="rest", client_options={"api_endpoint": url}, credentials=anonymous
    )
    one, two = client.get_hyperparameter_tuning_job(name=str(job.name)).trials
    assert one.state is aiplatform_v1.Trial.State.SUCCEEDED
    assert {p.parameter_id: p.value for p in one.parameters} == ended.point
    assert one.final_measurement.metrics[0].value == math.inf
    assert one.final_measurement.elapsed_duration.total_seconds() == 60
    assert math.isnan(one.measurements[0].metrics[0].value)
    assert (two.id, two.state) == ("2", aiplatform_v1.Trial.State.ACTIVE)
    (listed,) = client.list_hyperparameter_tuning_jobs(parent=P)
    assert list(listed.trials) == []
    jobs.end(job.name, Ending(State.SUCCEEDED))
    client.delete_hyperparameter_tuning_job(name=str(job.name)).result()
    assert http.get(JOBS).json() == {}


def test_what_an_ended_trial_reported_is_read_once(
    http: httpx.Client, jobs: MemoryJobs, job: Job
) -> None:
    """Clients ask every few seconds for all trials, and there may be very many reports."""
    jobs.kept_trials.keep(job, replace(succeeded(1, 0.5), point={"lr": 0.25}), active(2))
    for step in range(300):
        jobs.kept_trials.report(job, 1, step, loss=float(step))
    answers = [http.get(f"/v1/{job.name}").json() for _ in range(3)]
    assert answers[0] == answers[1] == answers[2]
    assert len(answers[0]["trials"][0]["measurements"]) == 100
    assert jobs.kept_trials.asked == [(job.uid, 1)] + [(job.uid, 2)] * 3


def test_the_sdk_waits_for_a_search_and_has_its_trials(
    url: str, anonymous: Any, jobs: MemoryJobs
) -> None:
    def end(job: Job) -> None:
        jobs.kept_trials.keep(job, replace(succeeded(1, 0.25), point={"lr": 0.5, "opt": "adam"}))
        jobs.end(job.name, Ending(State.SUCCEEDED))

    jobs.on_submit = end
    aiplatform.init(
        project="demo",
        location="us-central1",
        staging_bucket="gs://stage",
        api_endpoint=url,
        api_transport="rest",
        credentials=anonymous,
    )
    made: Any = aiplatform  # most of its methods have no types
    spaces = made.hyperparameter_tuning
    search = made.HyperparameterTuningJob(
        display_name="a search",
        custom_job=made.CustomJob(display_name="a trial", worker_pool_specs=[POOL]),
        metric_spec={"loss": "minimize"},
        parameter_spec={
            "lr": spaces.DoubleParameterSpec(min=0.1, max=1, scale="log"),
            "opt": spaces.CategoricalParameterSpec(values=["adam", "sgd"]),
        },
        max_trial_count=20,
        parallel_trial_count=2,
    )
    search.run()
    aiplatform.initializer.global_pool.shutdown(wait=True)
    (trial,) = search.trials
    assert trial.final_measurement.metrics[0].value == 0.25
    assert {p.parameter_id: p.value for p in trial.parameters} == {"lr": 0.5, "opt": "adam"}
    (submission,) = jobs.submissions
    assert submission.search is not None
    assert submission.search.selection is Selection.BEST, "the SDK's default"
