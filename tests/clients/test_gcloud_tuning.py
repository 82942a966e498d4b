"""Tuning jobs by the real ``gcloud ai-platform jobs`` and ``gcloud ai hp-tuning-jobs``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients.corpus import FOLDER, require_corpus
from tests.clients.tuned import SLEEPING, STEPS, TAG, TRAINER, loss_of, write_package
from tests.support.trainers import Trainers

if TYPE_CHECKING:
    import subprocess

    from google.cloud import storage

    Run = Callable[..., subprocess.CompletedProcess[str]]

LIMIT_S = 600.0
OFTEN = "--polling-interval=1"
CENSUS = "013-cloudml-samples-census-hptuning-config.yaml"
CENSUS_TASK = """
import argparse
from hypertune import HyperTune

parser = argparse.ArgumentParser()
parser.add_argument("--job-dir")
parser.add_argument("--first-layer-size", type=int)
parser.add_argument("--num-layers", type=int)
parser.add_argument("--scale-factor", type=float)
given = parser.parse_args()
accuracy = given.scale_factor / given.num_layers
HyperTune().report_hyperparameter_tuning_metric("accuracy", accuracy, 10)
print("accuracy", accuracy)
"""
CONFIG = """
studySpec:
  metrics:
  - metricId: {tag}
    goal: MINIMIZE
  parameters:
  - parameterId: x
    doubleValueSpec: {{minValue: 0, maxValue: 1}}
    scaleType: UNIT_LINEAR_SCALE
trialJobSpec:
  workerPoolSpecs:
  - machineSpec: {{machineType: n1-standard-4}}
    replicaCount: 1
    pythonPackageSpec:
      executorImageUri: us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest
      packageUris: [{package}]
      pythonModule: trainer.task
"""


def rows(printed: str) -> list[list[str]]:
    """The columns of lines that ``stream-logs`` printed."""
    return [line.split("\t") for line in printed.splitlines()]


def test_a_configuration_of_a_public_repository_is_tuned(
    gcloud: Run, finish: Callable[..., dict[str, Any]], bucket: storage.Bucket, tmp_path: Path
) -> None:
    """The census sample's own file; and its trials' lines, with their numbers."""
    require_corpus()
    submitted = gcloud(
        *("ai-platform", "jobs", "submit", "training", "census_hp"),
        *("--config", FOLDER / "configs" / CENSUS),
        *("--package-path", write_package(tmp_path, CENSUS_TASK), "--module-name", "trainer.task"),
        *("--staging-bucket", f"gs://{bucket.name}", "--job-dir", f"gs://{bucket.name}/out"),
        *("--runtime-version", "2.21", "--python-version", "3.11", "--region", "us-central1"),
    )
    assert submitted.returncode == 0, submitted.stderr
    followed = gcloud("ai-platform", "jobs", "stream-logs", "census_hp", OFTEN)
    assert followed.returncode == 0, followed.stderr
    told = [row for row in rows(followed.stdout) if row[-1].startswith("accuracy")]

    assert finish("census_hp")["state"] == "SUCCEEDED"
    described = gcloud("ai-platform", "jobs", "describe", "census_hp", "--format=json")
    trials = json.loads(described.stdout)["trainingOutput"]["trials"]
    accuracies = [trial["finalMetric"]["objectiveValue"] for trial in trials]
    assert accuracies == sorted(accuracies, reverse=True)
    assert sorted((task, trial, text) for _, _, task, trial, text in told) == sorted(
        ("master-replica-0", trial["trialId"], f"accuracy {accuracy}")
        for trial, accuracy in zip(trials, accuracies, strict=True)
    )
    summary = gcloud("ai-platform", "jobs", "describe", "census_hp", "--summarize")
    assert summary.returncode == 0, summary.stderr
    assert all(trial["hyperparameters"]["num-layers"] in summary.stdout for trial in trials)


@pytest.fixture
def tuning(gcloud: Run) -> Run:
    def run(*words: object) -> subprocess.CompletedProcess[str]:
        done = gcloud("ai", "hp-tuning-jobs", *words, "--region=us-central1")
        assert done.returncode == 0, done.stderr
        return done

    return run


def create(tuning: Run, folder: Path, package: str, *words: object) -> str:
    """The number of a new job."""
    file = folder / "tuning.yaml"
    file.write_text(CONFIG.format(tag=TAG, package=package))
    made = json.loads(tuning("create", "--config", file, "--format=json", *words).stdout)
    return str(made["name"]).rpartition("/")[2]


def wait_for(tuning: Run, job: str, *states: str) -> dict[str, Any]:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        found: dict[str, Any] = json.loads(tuning("describe", job, "--format=json").stdout)
        if found["state"].removeprefix("JOB_STATE_") in states:
            return found
        assert "error" not in found, found
    raise TimeoutError(f"{job} is in none of {states}")


def test_create_describe_and_stream_logs(
    tuning: Run, gcloud: Run, trainers: Trainers, tmp_path: Path
) -> None:
    counts = ("--max-trial-count=4", "--parallel-trial-count=2", "--algorithm=random-search")
    job = create(tuning, tmp_path, trainers.make(TRAINER), "--display-name=tuned", *counts)
    described = wait_for(tuning, job, "SUCCEEDED")
    assert described["studySpec"]["algorithm"] == "RANDOM_SEARCH"
    trials = described["trials"]
    assert [trial["id"] for trial in trials] == ["1", "2", "3", "4"]
    for trial in trials:
        (x,) = (parameter["value"] for parameter in trial["parameters"])
        (metric,) = trial["finalMeasurement"]["metrics"]
        assert (metric["metricId"], trial["state"]) == (TAG, "SUCCEEDED")
        assert metric["value"] == pytest.approx(loss_of(x))
        assert trial["finalMeasurement"]["stepCount"] == str(STEPS)

    followed = tuning("stream-logs", job, OFTEN)
    lines = [row[-1] for row in rows(followed.stdout) if row[-1].startswith("step")]
    assert len(lines) == 4 * STEPS
    run = gcloud("ai", "custom-jobs", "stream-logs", f"{job}-2", OFTEN, "--region=us-central1")
    assert run.returncode == 0, run.stderr
    own = [row[-1] for row in rows(run.stdout) if row[-1].startswith("step")]
    assert own == [f"step {step} of x {trials[1]['parameters'][0]['value']}" for step in (1, 2, 3)]


def test_list_and_cancel(tuning: Run, trainers: Trainers, tmp_path: Path) -> None:
    counts = ("--max-trial-count=3", "--parallel-trial-count=2")
    package = trainers.make(SLEEPING)
    job = create(tuning, tmp_path, package, "--display-name=sleeping", *counts)
    wait_for(tuning, job, "RUNNING")
    listed = tuning("list", "--filter=displayName=sleeping", "--format=value(name,state)").stdout
    assert listed.split() == [
        f"projects/demo/locations/us-central1/hyperparameterTuningJobs/{job}",
        "JOB_STATE_RUNNING",
    ]
    tuning("cancel", job)
    assert wait_for(tuning, job, "CANCELLED")["endTime"]
