"""The real ``gcloud ai custom-jobs``, pointed here by ``footplate env``."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from footplate.testing.service import RunningService
from tests.support.trainers import Trainers

if TYPE_CHECKING:
    import subprocess

    Run = Callable[..., subprocess.CompletedProcess[str]]

IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
REGION = "--region=us-central1"
LIMIT_S = 600.0
CONFIG = """
workerPoolSpecs:
- machineSpec:
    machineType: n1-standard-4
  replicaCount: 1
  pythonPackageSpec:
    executorImageUri: {image}
    packageUris: [{package}]
    pythonModule: trainer.task
    args: [--from, config]
    env: [{{name: FROM, value: env}}]
"""
TELLING = "import os, sys; print(sys.argv[1:], os.environ.get('FROM')); print('the last line')"
LONG = "import time; print('up', flush=True); time.sleep(3600)"


@pytest.fixture
def ai(gcloud: Run) -> Run:
    def run(*words: object) -> subprocess.CompletedProcess[str]:
        done = gcloud("ai", "custom-jobs", *words, REGION)
        assert done.returncode == 0, done.stderr
        return done

    return run


def create(ai: Run, *words: object) -> str:
    """The resource name of a new job."""
    made: str = json.loads(ai("create", "--format=json", *words).stdout)["name"]
    return made


def wait_for(ai: Run, name: str, *states: str) -> dict[str, Any]:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        job: dict[str, Any] = json.loads(ai("describe", name, "--format=json").stdout)
        if job["state"].removeprefix("JOB_STATE_") in states:
            return job
    raise TimeoutError(f"{name} is not {states}")


def test_persistent_resources(gcloud: Run, ai: Run, trainers: Trainers) -> None:
    def on_resources(*words: object) -> subprocess.CompletedProcess[str]:
        done = gcloud("ai", "persistent-resources", *words, REGION)
        assert done.returncode == 0, done.stderr
        return done

    pool = "--resource-pool-spec=replica-count=1,machine-type=n1-standard-4"
    on_resources("create", "--persistent-resource-id=gcloud", "--display-name=g", pool)
    deadline = time.monotonic() + LIMIT_S
    fields = "value(displayName,state)"
    while "g\tRUNNING" not in on_resources("list", f"--format={fields}").stdout.splitlines():
        assert time.monotonic() < deadline
    on_resources("reboot", "gcloud")
    while on_resources("describe", "gcloud", "--format=value(state)").stdout != "RUNNING\n":
        assert time.monotonic() < deadline
    pool = f"machine-type=n1-standard-4,executor-image-uri={IMAGE},python-module=trainer.task"
    name = create(
        ai,
        "--display-name=on-it",
        f"--worker-pool-spec={pool}",
        f"--python-package-uris={trainers.make(LONG)}",
        "--persistent-resource-id=gcloud",
    )
    on_resources("delete", "gcloud")
    wait_for(ai, name, "CANCELLED")


def test_a_config_and_its_logs(ai: Run, trainers: Trainers, tmp_path: Path) -> None:
    config = tmp_path / "job.yaml"
    config.write_text(CONFIG.format(image=IMAGE, package=trainers.make(TELLING)))
    name = create(ai, "--display-name=from-config", f"--config={config}", "--labels=team=a")
    wait_for(ai, name, "SUCCEEDED")  # gcloud looks once whether a job has ended, at first
    followed = ai("stream-logs", name, "--polling-interval=1")
    printed = [line.split("\t")[-1] for line in followed.stdout.splitlines()]
    assert printed[-2:] == ["['--from', 'config'] env", "the last line"]
    job = json.loads(ai("describe", name, "--format=json").stdout)
    assert (job["state"], job["labels"]) == ("JOB_STATE_SUCCEEDED", {"team": "a"})


def test_a_package_by_flags_is_listed_and_cancelled(
    ai: Run, trainers: Trainers, service: RunningService
) -> None:
    """What needs no Docker here: gcloud builds images of ``local-package-path`` with it."""
    pool = f"replica-count=1,machine-type=n1-standard-4,executor-image-uri={IMAGE}"
    name = create(
        ai,
        "--display-name=by-flags",
        f"--worker-pool-spec={pool},python-module=trainer.task",
        f"--python-package-uris={trainers.make(LONG)}",
        "--args=--epochs,3",
        "--enable-web-access",
    )
    running = wait_for(ai, name, "RUNNING")
    assert list(running["webAccessUris"]) == ["workerpool0-0"]
    assert running["webAccessUris"]["workerpool0-0"].startswith(f"{service.url}/shell/v1/")
    listed = ai("list", "--filter=displayName=by-flags", "--format=value(name,state)")
    assert listed.stdout.split() == [name, "JOB_STATE_RUNNING"]
    ai("cancel", name)
    job = wait_for(ai, name, "CANCELLED")
    assert "webAccessUris" not in job
    package = job["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]
    assert package["args"] == ["--epochs", "3"]
