"""Built-in algorithms, sent as jobs of ml v1: no code, no container, only data and arguments."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import httpx
import yaml

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri, TrainingJobName
from tests.e2e.service.conftest import BUCKET, Context
from tests.support.algorithm_data import write_census, write_numbers

IMAGES = "gcr.io/cloud-ml-algos"
TREES = ("--preprocess", "--objective=binary:logistic")
DATA = f"gs://{BUCKET}/data/census.csv"
TRAINING = f"--training_data_path={DATA}"


def upload(context: Context, name: str, file: Path) -> None:
    with context.client() as client:
        client.storage.upload(GcsUri(BUCKET, f"data/{name}"), file.read_bytes())


def send(
    context: Context, algorithm: str, *args: str, job_id: str = "built_in", **training_input: object
) -> TrainingJobName:
    """Through ml v1; its job directory is OUT/ID."""
    job = {
        "jobId": job_id,
        "trainingInput": {
            "region": "us-central1",
            "scaleTier": "BASIC",
            "masterConfig": {"imageUri": f"{IMAGES}/{algorithm}:latest"},
            "args": list(args),
            "jobDir": f"gs://{BUCKET}/out/{job_id}",
            **training_input,
        },
    }
    with context.client() as client:
        client.training_jobs.create("demo", job)  # type: ignore[arg-type]  # JSON by hand
    return TrainingJobName("demo", job_id)


def output(context: Context, name: TrainingJobName) -> dict[str, Any]:
    answer = httpx.get(f"{context.service.url}/v1/projects/demo/jobs/{name.job_id}").json()
    found: dict[str, Any] = answer["trainingOutput"]
    return found


def test_boosted_trees(context: Context, tmp_path: Path) -> None:
    upload(context, "census.csv", write_census(tmp_path / "census.csv", 2000))

    name = send(context, "boosted_trees", *TREES, TRAINING)
    job = context.wait_for(name)

    assert job.state is State.SUCCEEDED, context.messages(name)
    out = context.out(name)
    assert (out / "model" / "model.bst").stat().st_size > 0
    parts = {path.name for path in (out / "processed_data").iterdir()}
    assert parts == {"training.csv", "validation.csv", "test.csv"}
    assert json.loads((out / "artifacts" / "metadata.json").read_text())["columns"]
    config = yaml.safe_load((out / "model" / "deployment_config.yaml").read_text())
    assert config["deploymentUri"] == f"gs://{BUCKET}/out/built_in/model/"
    assert int(config["labels"]["accuracy"]) > 75
    assert output(context, name) == {
        "isBuiltInAlgorithmJob": True,
        "builtInAlgorithmOutput": {
            "framework": "XGBOOST",
            "runtimeVersion": "2.21",
            "pythonVersion": "3.11",
            "modelPath": f"gs://{BUCKET}/out/built_in/model/",
        },
    }


def test_a_wrong_row_is_the_cause_of_the_failure(context: Context, tmp_path: Path) -> None:
    file = write_census(tmp_path / "census.csv", 50)
    file.write_text(file.read_text() + "<=50K,1\n")
    upload(context, "census.csv", file)

    name = send(context, "boosted_trees", *TREES, TRAINING)
    job = context.wait_for(name)

    assert job.state is State.FAILED
    assert f"{DATA}, row 51 has 2 columns, and the first row has 5" in (job.error_message or "")
    assert "modelPath" not in output(context, name)["builtInAlgorithmOutput"]


def test_a_tuning_job_over_an_algorithm(context: Context, tmp_path: Path) -> None:
    """Neither code of the user's nor hypertune in it."""
    upload(context, "census.csv", write_census(tmp_path / "census.csv", 2000))
    search = {
        "goal": "MAXIMIZE",
        "hyperparameterMetricTag": "accuracy",
        "maxTrials": 3,
        "maxParallelTrials": 1,
        "params": [
            {"parameterName": "max_depth", "type": "INTEGER", "minValue": 1, "maxValue": 6},
            {"parameterName": "eta", "type": "DOUBLE", "minValue": 0.05, "maxValue": 0.9},
        ],
    }

    name = send(context, "boosted_trees", *TREES, TRAINING, hyperparameters=search)
    job = context.wait_for(name)

    assert job.state is State.SUCCEEDED, job.error_message
    told = output(context, name)
    assert told["completedTrialCount"] == "3"
    for trial in told["trials"]:
        assert 0.7 < trial["finalMetric"]["objectiveValue"] <= 1
        model = f"gs://{BUCKET}/out/built_in/{trial['trialId']}/model/"
        assert trial["builtInAlgorithmOutput"]["modelPath"] == model
        assert (context.out(name) / trial["trialId"] / "model" / "model.bst").exists()
    assert "modelPath" not in told["builtInAlgorithmOutput"]


def test_xgboost_on_three_replicas(context: Context, tmp_path: Path) -> None:
    for index in range(3):
        file = write_numbers(tmp_path / f"{index}.csv", 600, seed=index)
        upload(context, f"part-{index}.csv", file)

    name = send(
        context,
        "xgboost_dist",
        f"--training_data_path=gs://{BUCKET}/data/part-*.csv",
        "--objective=binary:logistic",
        scaleTier="CUSTOM",
        masterType="n1-standard-4",
        workerType="n1-standard-4",
        workerCount="2",
    )
    job = context.wait_for(name)

    assert job.state is State.SUCCEEDED, context.messages(name)
    said = context.messages(name)
    for index in range(3):
        assert f"Replica {index} of 3 reads 600 rows of training_data_path" in said
    metrics = json.loads((context.out(name) / "artifacts" / "metrics.json").read_text())
    assert metrics["training"]["accuracy"] > 0.85
