"""``trials``: the table, which ones are shown, and exports."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from typing import Any

import pytest
import yaml
from click.testing import Result

from tests.support.fake_service import FakeService

from .conftest import JOB, answer, measured, trial

TRIALS = ("ai-platform", "jobs", "trials")


def test_the_table(invoke: Callable[..., Result], job: str) -> None:
    result = invoke(*TRIALS, job)
    assert result.stdout == (
        "TRIAL  STATE      rmse      STEP  learning_rate  optimizer  momentum  TIME  "
        "MACHINE_TIME  EARLY  WHY\n"
        "1      SUCCEEDED  0.5       100   0.1            adam                 30s   "
        "1m 00s\n"
        "* 2    SUCCEEDED  0.212346  100   0.001          sgd        0.9       30s   "
        "1m 00s\n"
        "3      FAILED                     0.01           adam                 30s   "
        "1m 00s               the program ended with exit code 1\n"
        "4      SUCCEEDED  0.9       10    0.002          adam                 30s   "
        "1m 00s        yes    at step 10: 0.9, above 0.7\n"
    )
    assert result.stderr == (
        "Best: trial 2 with rmse 0.212346 at step 100: trial 9 is as good; this trial came first.\n"
    )


def test_the_other_face_has_the_same(invoke: Callable[..., Result], fake: FakeService) -> None:
    name = "projects/demo/locations/us-central1/hyperparameterTuningJobs/7"
    fake.trials[name] = [answer(trial(1, parameters={}, final=measured(0.5, 1)), name=name)]
    result = invoke("ai", "hp-tuning-jobs", "trials", "7")
    assert " ".join(result.stdout.split("\n")[1].split()) == "1 SUCCEEDED 0.5 1 30s 1m 00s"


def test_trials_that_wait_say_why(
    invoke: Callable[..., Result], fake: FakeService, job: str
) -> None:
    run = {"state": "QUEUED", "pendingExplanation": "Waits for 2 GPUs on this machine."}
    fake.trials[JOB] = [answer(trial(5, "REQUESTED", parameters={}, startTime="", run=run))]
    told = invoke(*TRIALS, job).stdout
    assert told.splitlines()[1].endswith("Waits for 2 GPUs on this machine.")


@pytest.mark.parametrize(
    ("options", "numbers"),
    [
        (("--sort-by=rmse",), "2 1 4 3"),
        (("--sort-by=~rmse",), "4 1 2 3"),
        (("--sort-by=learning_rate", "--limit=2"), "2 4"),
        (("--sort-by=training_steps, ~trial",), "4 2 1 3"),
        (("--filter=learning_rate<0.01 AND state=succeeded",), "2 4"),
        (("--filter=state=failed OR rmse>0.8", "--sort-by=~trial"), "4 3"),
        (("--limit=3",), "1 2 3"),
    ],
)
def test_which_ones_in_what_order(
    invoke: Callable[..., Result], job: str, options: tuple[str, ...], numbers: str
) -> None:
    result = invoke(*TRIALS, job, "--format=json", *options)
    found = json.loads(result.stdout)["trials"]
    assert [t["number"] for t in found] == [int(n) for n in numbers.split()]


def test_the_service_says_what_is_wrong_with_a_filter(
    invoke: Callable[..., Result], job: str
) -> None:
    result = invoke(*TRIALS, job, "--filter=loss<1")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("Error: filter: unknown field; allowed: learning_rate, ")


def test_nothing_to_show(invoke: Callable[..., Result], fake: FakeService, job: str) -> None:
    result = invoke(*TRIALS, job, "--filter=rmse>7")
    assert (result.stdout, result.stderr) == ("", "None of 4 trials matches --filter.\n")
    fake.trials[JOB] = [answer(state="QUEUED")]
    result = invoke(*TRIALS, job)
    assert result.stderr == "Job census_1 is QUEUED, and has no trials yet.\n"


def test_csv_has_everything(invoke: Callable[..., Result], job: str) -> None:
    rows = list(csv.DictReader(io.StringIO(invoke(*TRIALS, job, "--format=csv").stdout)))
    assert [row["rmse"] for row in rows] == ["0.5", "0.21234567", "", "0.9"]
    assert rows[1] == {
        "trial": "2",
        "state": "SUCCEEDED",
        "best": "true",
        "rmse": "0.21234567",
        "step": "100",
        "learning_rate": "0.001",
        "optimizer": "sgd",
        "momentum": "0.9",
        "start_time": "2026-11-21T08:02:00Z",
        "end_time": "2026-11-21T08:02:30Z",
        "seconds": "30.0",
        "machine_seconds": "60.0",
        "stopped_early": "false",
        "stop_reason": "",
        "infeasible_reason": "",
        "suggested_as": "exploit",
        "suggestion": "exploit: expects rmse between 0.3 and 0.5",
    }


def test_a_parameter_that_is_named_like_a_field(
    invoke: Callable[..., Result], fake: FakeService, job: str
) -> None:
    fake.trials[JOB] = [
        answer(trial(1, parameters={"state": "wet", "rmse": 3}, final=measured("NaN", 1)))
        | {"parameters": ["state", "rmse"]}
    ]
    (row,) = csv.DictReader(io.StringIO(invoke(*TRIALS, job, "--format=csv").stdout))
    assert row["state"] == "SUCCEEDED"
    assert row["rmse"] == "nan"
    assert (row["parameters.state"], row["parameters.rmse"]) == ("wet", "3")


def test_json_and_yaml_are_what_the_service_says(
    invoke: Callable[..., Result], fake: FakeService, job: str
) -> None:
    said: dict[str, Any] = fake.trials[JOB][0]
    states = ("SUCCEEDED", "SUCCEEDED", "FAILED", "SUCCEEDED")
    trials = [{**t, "state": s} for t, s in zip(said["trials"], states, strict=True)]
    expected = {**said, "trials": trials}
    assert json.loads(invoke(*TRIALS, job, "--format=json").stdout) == expected
    assert yaml.safe_load(invoke(*TRIALS, job, "--format=yaml").stdout) == expected


def test_states_are_those_of_the_jobs_api(
    invoke: Callable[..., Result], fake: FakeService, job: str
) -> None:
    """FAILED and CANCELLED for ml v1; Vertex AI has INFEASIBLE for both."""
    run = {"name": f"{JOB}-4", "state": "PREPARING"}
    fake.trials[JOB] = [
        answer(
            trial(1, "INFEASIBLE", parameters={}, outcome="CANCELLED"),
            trial(2, "INFEASIBLE", parameters={}, outcome="SUCCEEDED"),
            trial(3, "STOPPING", parameters={}),
            trial(4, "REQUESTED", parameters={}, run=run),
        )
    ]
    shown = invoke(*TRIALS, job, "--format=value(state)").stdout.split()
    assert shown == ["CANCELLED", "FAILED", "RUNNING", "PREPARING"]
    vertex = "projects/demo/locations/us-central1/hyperparameterTuningJobs/7"
    fake.trials[vertex] = [{**fake.trials[JOB][0], "name": vertex}]
    words = ("ai", "hp-tuning-jobs", "trials", "7", "--format=value(state)")
    shown = invoke(*words).stdout.split()
    assert shown == ["INFEASIBLE", "INFEASIBLE", "STOPPING", "REQUESTED"]


def test_curves(invoke: Callable[..., Result], fake: FakeService, job: str) -> None:
    told = {"position": 1, "time": "2026-11-21T08:01:10Z", "source": "hypertune"}
    fake.measurements[JOB, 1] = [{**told, **measured(0.75, 10)}, {**told, **measured("NaN", 20)}]
    fake.measurements[JOB, 4] = [{**told, **measured(0.9, 10)}]
    assert invoke(*TRIALS, job, "--curves", "--format=csv").stdout == (
        "trial,step,rmse,elapsed_seconds,time,source\n"
        "1,10,0.75,10.0,2026-11-21T08:01:10Z,hypertune\n"
        "1,20,NaN,20.0,2026-11-21T08:01:10Z,hypertune\n"
        "4,10,0.9,10.0,2026-11-21T08:01:10Z,hypertune\n"
    )
    lines = invoke(*TRIALS, job, "--curves", "--format=json", "--filter=trial<4").stdout
    assert [json.loads(line)["rmse"] for line in lines.splitlines()] == [0.75, "NaN"]
    one = invoke(*TRIALS, job, "--curves", "--trial=4").stdout
    assert one == (
        "TRIAL  STEP  RMSE  ELAPSED_SECONDS  TIME                  SOURCE\n"
        "4      10    0.9   10.0             2026-11-21T08:01:10Z  hypertune\n"
    )


def test_a_job_without_trials(invoke: Callable[..., Result], fake: FakeService) -> None:
    result = invoke(*TRIALS, "plain")
    assert result.exit_code == 1
    assert (
        result.stderr
        == "Error: projects/demo/jobs/plain is not a tuning job, so it has no trials\n"
    )


def test_describe_as_a_table_has_the_best(invoke: Callable[..., Result], job: str) -> None:
    result = invoke("ai-platform", "jobs", "describe", job, "--format=table")
    assert result.stdout == (
        "JOB_ID    STATUS   CREATED                      TRIALS  BEST\n"
        "census_1  RUNNING  2026-11-21T08:00:00.000000Z  4 of 9  "
        "trial 2: rmse 0.212346 at step 100\n"
    )


EARLIER = {
    "source": "census_0",
    "trials": 12,
    "equal": True,
    "best": {"number": 7, "parameters": {"learning_rate": 0.25}, "final": measured(0.2, 100)},
}


@pytest.mark.parametrize(
    ("rmse", "state", "told"),
    [
        (0.1, "RUNNING", "Trial 1 is better."),
        (0.3, "RUNNING", "No new trial is better yet."),
        (0.3, "SUCCEEDED", "No new trial is better."),
        ("NaN", "FAILED", "No new trial has a result."),
    ],
)
def test_the_earlier_best_stands_beside_the_new_ones(
    invoke: Callable[..., Result],
    fake: FakeService,
    job: str,
    rmse: float | str,
    state: str,
    told: str,
) -> None:
    best = [] if rmse == "NaN" else [1]
    shown = trial(1, parameters={}, final=measured(rmse, 1))
    fake.trials[JOB] = [answer(shown, state=state, earlier=EARLIER, best=best)]
    assert invoke(*TRIALS, job).stderr.splitlines()[-1] == (
        "Earlier: 12 trials, the best with rmse 0.2 (trial 7 of census_0: learning_rate=0.25). "
        + told
    )


def test_earlier_trials_without_a_result_are_said(
    invoke: Callable[..., Result], fake: FakeService, job: str
) -> None:
    fake.trials[JOB] = [
        answer(trial(1, parameters={}), earlier={**EARLIER, "trials": 1, "best": None})
    ]
    assert (
        "Earlier study: 1 trial of census_0, none with a result.\n" in invoke(*TRIALS, job).stderr
    )
