"""Tuning jobs of ml v1 by the unmodified google-api-python-client, with trials that really run."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from googleapiclient.errors import HttpError

from tests.clients.tuned import SLEEPING, STEPS, TAG, TRAINER, loss_of
from tests.support.trainers import Trainers

if TYPE_CHECKING:
    from google.cloud import storage

    Finish = Callable[..., dict[str, Any]]

PARENT = "projects/demo"
X = {
    "parameterName": "x",
    "type": "DOUBLE",
    "minValue": 0,
    "maxValue": 1,
    "scaleType": "UNIT_LINEAR_SCALE",
}
SEARCH = {"goal": "MINIMIZE", "hyperparameterMetricTag": TAG, "params": [X]}


def submit(ml: Any, job_id: str, package: str, search: dict[str, Any], **more: Any) -> None:
    training = {
        "region": "us-central1",
        "runtimeVersion": "2.21",
        "pythonVersion": "3.11",
        "packageUris": [package],
        "pythonModule": "trainer.task",
        "hyperparameters": search,
        **more,
    }
    ml.jobs().create(parent=PARENT, body={"jobId": job_id, "trainingInput": training}).execute()


def points(job: dict[str, Any]) -> list[str]:
    """As the answer tells them, in its order."""
    return [trial["hyperparameters"]["x"] for trial in job["trainingOutput"]["trials"]]


def test_trials_run_two_at_a_time_and_come_best_first(
    ml: Any, finish: Finish, trainers: Trainers, bucket: storage.Bucket
) -> None:
    search = SEARCH | {"maxTrials": 4, "maxParallelTrials": 2}
    job_dir = f"gs://{bucket.name}/tuned"
    submit(ml, "tuned_1", trainers.make(TRAINER), search, jobDir=job_dir)
    job = finish("tuned_1")
    assert job["state"] == "SUCCEEDED", job
    output = job["trainingOutput"]
    assert output["isHyperparameterTuningJob"] is True
    assert (output["completedTrialCount"], output["hyperparameterMetricTag"]) == ("4", TAG)
    trials = output["trials"]
    assert sorted(trial["trialId"] for trial in trials) == ["1", "2", "3", "4"]
    losses = [trial["finalMetric"]["objectiveValue"] for trial in trials]
    assert losses == sorted(losses)
    assert losses == pytest.approx([loss_of(float(x)) for x in points(job)])
    for trial in trials:
        assert (trial["state"], trial["finalMetric"]["trainingStep"]) == ("SUCCEEDED", str(STEPS))


def test_a_job_goes_on_from_an_earlier_one(ml: Any, finish: Finish, trainers: Trainers) -> None:
    package = trainers.make(TRAINER)
    submit(ml, "earlier", package, SEARCH | {"maxTrials": 2, "maxParallelTrials": 2})
    earlier = finish("earlier")
    later = {"maxTrials": 2, "resumePreviousJobId": "earlier"}
    with pytest.raises(HttpError, match="MAXIMIZE given; the resumed job has MINIMIZE"):
        submit(ml, "other", package, later | {"goal": "MAXIMIZE"})
    submit(ml, "later", package, later)
    job = finish("later")
    assert job["state"] == "SUCCEEDED", job
    assert job["trainingOutput"]["hyperparameterMetricTag"] == TAG
    assert len(points(job)) == 2
    assert not {*points(job)} & {*points(earlier)}, "what was tried isn't tried again"


def test_a_tuning_job_is_listed_without_its_runs_and_cancelled_with_them(
    ml: Any, finish: Finish, trainers: Trainers
) -> None:
    search = SEARCH | {"maxTrials": 3, "maxParallelTrials": 2}
    submit(ml, "sleeping", trainers.make(SLEEPING), search)
    finish("sleeping", "RUNNING")
    listed = ml.jobs().list(parent=PARENT, filter="jobId:sleeping*").execute()
    assert [job["jobId"] for job in listed["jobs"]] == ["sleeping"]
    ml.jobs().cancel(name=f"{PARENT}/jobs/sleeping").execute()
    assert finish("sleeping")["state"] == "CANCELLED"
    run = ml.jobs().get(name=f"{PARENT}/jobs/sleeping-1").execute()
    assert run["state"] == "CANCELLED"


STUDIES = "projects/demo/locations/us-central1"
CONFIG: dict[str, Any] = {
    "metrics": [{"metric": "loss", "goal": "MINIMIZE"}],
    "parameters": [
        {
            "parameter": "kind",
            "type": "CATEGORICAL",
            "categoricalValueSpec": {"values": ["line", "tree"]},
            "childParameterSpecs": [
                {
                    "parameter": "depth",
                    "type": "INTEGER",
                    "integerValueSpec": {"minValue": "1", "maxValue": "3"},
                    "parentCategoricalValues": {"values": ["tree"]},
                }
            ],
        }
    ],
    "algorithm": "GRID_SEARCH",
    "automatedStoppingConfig": {"medianAutomatedStoppingConfig": {}},
}


def test_a_loop_of_ones_own_asks_ai_platform_optimizer(ml: Any) -> None:
    """By Google's own document of ml v1, until every point was tried."""
    locations = ml.locations()
    studies, trials = locations.studies(), locations.studies().trials()
    body = {"studyConfig": CONFIG}
    study = studies.create(parent=STUDIES, studyId="my_loop", body=body).execute()
    with pytest.raises(HttpError) as taken:
        studies.create(parent=STUDIES, studyId="my_loop", body=body).execute()
    assert taken.value.status_code == 409
    assert studies.get(name=study["name"]).execute() == study
    assert study in studies.list(parent=STUDIES).execute()["studies"]
    losses = {}
    asked = {"suggestionCount": 1, "clientId": "worker"}
    for _ in range(4):
        operation = trials.suggest(parent=study["name"], body=asked).execute()
        operation = locations.operations().get(name=operation["name"]).execute()
        assert operation["done"]
        (trial,) = operation["response"]["trials"]
        depth = sum(int(each.get("intValue", 0)) for each in trial["parameters"])
        losses[trial["name"]] = (depth - 2) ** 2
        metrics = [{"metric": "loss", "value": losses[trial["name"]]}]
        measured = {"measurement": {"stepCount": "1", "metrics": metrics}}
        trials.addMeasurement(name=trial["name"], body=measured).execute()
        checked = trials.checkEarlyStoppingState(name=trial["name"]).execute()
        assert "shouldStop" in checked["response"]
        assert trials.complete(name=trial["name"], body={}).execute()["state"] == "COMPLETED"
    with pytest.raises(HttpError) as tried:
        trials.suggest(parent=study["name"], body=asked).execute()
    assert tried.value.status_code == 429
    assert sorted(losses.values()) == [0, 1, 1, 4]
    (best,) = trials.listOptimalTrials(parent=study["name"], body={}).execute()["trials"]
    assert losses[best["name"]] == 0
    assert trials.get(name=best["name"]).execute() == best
    assert trials.stop(name=best["name"]).execute() == best
    assert trials.delete(name=best["name"]).execute() == {}
    assert len(trials.list(parent=study["name"]).execute()["trials"]) == 3
    point = [{"parameter": "kind", "stringValue": "line"}]
    own = trials.create(parent=study["name"], body={"parameters": point}).execute()
    assert (own["state"], own["parameters"]) == ("REQUESTED", point)
    assert studies.delete(name=study["name"]).execute() == {}
