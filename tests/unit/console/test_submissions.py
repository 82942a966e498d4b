"""How to submit a job again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
import yaml

from footplate.console.submissions import (
    as_gcloud,
    as_python,
    as_yaml,
    more_trials,
    parent_of,
    request_of,
)
from footplate.wire.json_text import JsonObject

HOSTILE = "it's '''\nEND\n\\\" $(touch owned) `touch owned` \u2028 </script>"
TRAINING: JsonObject = {
    "name": "projects/demo/jobs/census",
    "jobId": "census",
    "project": "demo",
    "region": "us-central1",
    "kind": "jobs",
    "labels": {"team": "ads"},
    "request": {"jobId": "census", "trainingInput": {"args": [HOSTILE]}},
}
CUSTOM: JsonObject = {
    "name": "projects/demo/locations/us-central1/customJobs/7",
    "jobId": "7",
    "project": "demo",
    "region": "us-central1",
    "kind": "customJobs",
    "request": {"displayName": HOSTILE, "jobSpec": {"args": [HOSTILE]}, "name": "x"},
}
JOBS = pytest.mark.parametrize("job", [TRAINING, CUSTOM], ids=["training", "custom"])


def test_what_the_service_adds_is_left_out() -> None:
    assert request_of(CUSTOM) == {"displayName": HOSTILE, "jobSpec": {"args": [HOSTILE]}}
    again = request_of(TRAINING, new_id="census_2")
    assert (again["jobId"], again["labels"]) == ("census_2", {"team": "ads"})
    assert parent_of(CUSTOM) == "projects/demo/locations/us-central1"


@JOBS
def test_yaml_is_the_request(job: JsonObject) -> None:
    assert yaml.safe_load(as_yaml(request_of(job))) == request_of(job)


@JOBS
def test_python_sends_the_request(job: JsonObject) -> None:
    lines = as_python(job).splitlines()
    code = "\n".join(
        line for line in lines if not line.startswith(("from", "service", "jobs", "pr"))
    )
    found: JsonObject = {}
    exec(compile(code, "copied", "exec"), found)  # noqa: S102 - it is what the page offers
    assert found["body"] == request_of(job)
    compile(as_python(job), "copied", "exec")


@JOBS
def test_a_shell_passes_on_what_is_meant(job: JsonObject, tmp_path: Path) -> None:
    stub = tmp_path / "gcloud"
    stub.write_text('#!/bin/sh\nfor each in "$@"; do printf "%s\\0" "$each"; done; cat > body\n')
    stub.chmod(0o755)
    path = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    done = subprocess.run(
        ["bash", "-c", as_gcloud(job)], cwd=tmp_path, env=path, capture_output=True, check=True
    )
    words = done.stdout.decode().split("\0")
    body = yaml.safe_load((tmp_path / "body").read_text())
    assert not (tmp_path / "owned").exists()
    if job is TRAINING:
        assert words[:5] == ["ai-platform", "jobs", "submit", "training", "census"]
        assert "--labels=team=ads" in words
        assert body == {"trainingInput": {"args": [HOSTILE]}}
    else:
        assert words[:3] == ["ai", "custom-jobs", "create"]
        assert f"--display-name={HOSTILE}" in words
        assert body == {"args": [HOSTILE]}


def test_a_pipeline_is_sent_by_curl() -> None:
    job: JsonObject = {**CUSTOM, "kind": "trainingPipelines"}
    command = as_gcloud(job)
    assert command.startswith("curl ")
    assert json.dumps(HOSTILE) in command


def test_a_training_job_resumes_the_search() -> None:
    search: JsonObject = {"maxTrials": 9, "maxParallelTrials": 4, "goal": "MINIMIZE"}
    request: JsonObject = {"jobId": "census", "trainingInput": {"hyperparameters": search}}
    job: JsonObject = {**TRAINING, "request": request}
    assert more_trials(job, 3, suffix="_1") == {
        "jobId": "census_1",
        "labels": {"team": "ads"},
        "trainingInput": {
            "hyperparameters": {
                "maxTrials": 3,
                "maxParallelTrials": 3,
                "goal": "MINIMIZE",
                "resumePreviousJobId": "census",
            }
        },
    }


def test_a_job_of_vertex_learns_from_the_search() -> None:
    request: JsonObject = {"displayName": "x", "maxTrialCount": 9, "parallelTrialCount": 2}
    job: JsonObject = {**CUSTOM, "kind": "hyperparameterTuningJobs", "request": request}
    assert more_trials(job, 5, suffix="_1") == {
        "displayName": "x",
        "maxTrialCount": 5,
        "parallelTrialCount": 2,
        "labels": {"footplate-learn-from": "7"},
    }
