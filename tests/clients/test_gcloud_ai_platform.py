"""The real ``gcloud ai-platform jobs``, pointed here by ``footplate env``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess

    from google.cloud import storage

    Run = Callable[..., subprocess.CompletedProcess[str]]

TASK = "master-replica-0"
COUNT = 2500
"""More than gcloud asks for at once."""

COUNTING = f"""
import json, os, sys
for number in range({COUNT}):
    print("line", number)
print("to stderr", file=sys.stderr)
print(json.dumps({{"severity": "WARNING", "message": "structured"}}))
with open(os.path.join(sys.argv[-1].replace("gs://", "/gcs/"), "args.json"), "w") as file:
    json.dump(sys.argv[1:-1], file)
"""
LONG = "import time; print('up', flush=True); time.sleep(3600)"


@pytest.fixture
def submit(gcloud: Run, bucket: storage.Bucket, tmp_path: Path) -> Run:
    """Submit a package that is only a folder: gcloud builds and stages it."""

    def run(job_id: str, task: str, *words: str) -> subprocess.CompletedProcess[str]:
        folder = tmp_path / job_id / "trainer"
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        (folder / "task.py").write_text(task)
        return gcloud(
            *("ai-platform", "jobs", "submit", "training", job_id),
            *("--package-path", folder, "--module-name", "trainer.task"),
            *("--staging-bucket", f"gs://{bucket.name}", "--job-dir", f"gs://{bucket.name}/out"),
            *("--runtime-version", "2.21", "--python-version", "3.11", "--region", "us-central1"),
            *words,
        )

    return run


def test_a_package_path_is_built_staged_and_run(
    submit: Run, gcloud: Run, bucket: storage.Bucket
) -> None:
    """And its lines are followed while it runs: every one of them, in order."""
    submitted = submit("counting", COUNTING, "--", "--epochs", "3", "a b")
    assert submitted.returncode == 0, submitted.stderr
    followed = gcloud("ai-platform", "jobs", "stream-logs", "counting", "--task-name", TASK)
    assert followed.returncode == 0, followed.stderr
    lines = [line.split("\t") for line in followed.stdout.splitlines()]
    found = [words[-1] for words in lines if words[-1].startswith("line ")]
    assert found == [f"line {number}" for number in range(COUNT)]
    severities = {words[-1]: (words[0], words[2]) for words in lines if len(words) == 5}
    assert severities["line 7"] == ("INFO", TASK)
    assert severities["to stderr"][0] == "ERROR"
    assert severities["structured"][0] == "WARNING"

    args = json.loads(bucket.blob("out/args.json").download_as_bytes())
    assert args == ["--epochs", "3", "a b", "--job-dir"]
    described = gcloud("ai-platform", "jobs", "describe", "counting", "--format=json")
    job: dict[str, Any] = json.loads(described.stdout)
    assert job["state"] == "SUCCEEDED"
    (package,) = job["trainingInput"]["packageUris"]
    assert package.startswith(f"gs://{bucket.name}/counting/")


def test_describe_list_and_cancel(
    submit: Run, gcloud: Run, finish: Callable[..., dict[str, Any]]
) -> None:
    assert submit("endless", LONG, "--labels=team=a").returncode == 0
    assert finish("endless", "RUNNING")["state"] == "RUNNING"
    listed = gcloud("ai-platform", "jobs", "list", "--filter=labels.team=a", "--format=json")
    assert [job["jobId"] for job in json.loads(listed.stdout)] == ["endless"]
    update = gcloud("ai-platform", "jobs", "update", "endless", "--update-labels=team=b,x=y")
    assert update.returncode == 0, update.stderr
    assert gcloud("ai-platform", "jobs", "cancel", "endless").returncode == 0
    assert finish("endless")["state"] == "CANCELLED"
    described = gcloud("ai-platform", "jobs", "describe", "endless", "--format=value(labels)")
    assert described.stdout.strip() == "team=b;x=y"
    assert gcloud("ai-platform", "jobs", "cancel", "endless").returncode == 0
    missing = gcloud("ai-platform", "jobs", "describe", "nobody")
    assert missing.returncode == 1
    assert "projects/demo/jobs/nobody" in missing.stderr


def test_a_failure_is_told(submit: Run, gcloud: Run, finish: Callable[..., dict[str, Any]]) -> None:
    assert submit("failing", "raise ValueError('not 42')").returncode == 0
    finish("failing")
    told = gcloud("ai-platform", "jobs", "describe", "failing", "--format=value(errorMessage)")
    assert told.stdout.strip() == (
        "replica master-replica-0 exited with code 1: ValueError: not 42 (at task.py:1 in <module>)"
    )


@pytest.mark.parametrize(
    "command",
    [
        "ai-platform models list",
        "ai endpoints list --region=us-central1",
        "ai indexes list --region=us-central1",
        "ai index-endpoints list --region=us-central1",
        "ai model-monitoring-jobs list --region=us-central1",
    ],
)
def test_lists_of_what_is_not_training_are_empty(gcloud: Run, command: str) -> None:
    done = gcloud(*command.split())
    assert done.returncode == 0, done.stderr
    assert "Listed 0 items." in done.stderr


def test_stream_logs_says_why_a_job_failed(submit: Run, gcloud: Run) -> None:
    assert submit("failing_in_logs", "import sys; sys.exit(7)").returncode == 0

    followed = gcloud("ai-platform", "jobs", "stream-logs", "failing_in_logs")

    lines = [line.split("\t") for line in followed.stdout.splitlines()]
    told = [(words[0], words[-1]) for words in lines if words[2:3] == ["service"]]
    assert told[-1] == ("ERROR", "replica master-replica-0 exited with code 7")


PREDICTION = (
    "ai-platform jobs submit prediction p1 --model m1 --input-paths gs://b/i "
    "--output-path gs://b/o --region us-central1 --data-format text"
)
UNSERVED = [
    ("ai-platform models create m1 --regions us-central1", "has no models that answer predictions"),
    ("ai-platform models describe m1", "has no models that answer predictions"),
    ("ai-platform models delete m1", "has no models that answer predictions"),
    ("ai-platform versions list --model m1", "has no models that answer predictions"),
    ("ai-platform versions describe v1 --model m1", "has no models that answer predictions"),
    ("ai-platform operations describe op1", "there is no operation"),
    ("ai-platform operations cancel op1", "there is no operation"),
    ("ai-platform operations wait op1", "there is no operation"),
    (PREDICTION, "Footplate runs no batch predictions"),
    ("ai-platform jobs describe nope", "projects/demo/jobs/nope does not exist"),
    ("ai models describe 1", "models/1 does not exist"),
    ("ai models delete 1", "models/1 does not exist"),
    ("ai endpoints create --display-name e", "has no endpoints"),
    ("ai endpoints describe 1", "has no endpoints"),
    ("ai endpoints raw-predict 1 --request {}", "has no endpoints"),
    ("ai operations describe 1", "there is no operation"),
    ("ai persistent-resources reboot r1", "persistentResources/r1 does not exist"),
    ("ai tensorboards describe 1", "tensorboards/1 does not exist"),
    ("ai custom-jobs describe 1", "customJobs/1 does not exist"),
    ("ai hp-tuning-jobs cancel 1", "hyperparameterTuningJobs/1 does not exist"),
]


@pytest.mark.parametrize(
    ("command", "sentence"), UNSERVED, ids=[command[:40] for command, _ in UNSERVED]
)
def test_refusals_print_the_services_sentence(gcloud: Run, command: str, sentence: str) -> None:
    region = ["--region", "us-central1"] if command.startswith("ai ") else []

    done = gcloud(*command.split(), *region)

    assert done.returncode == 1, done.stdout
    assert sentence in done.stderr
    assert "UNIMPLEMENTED" not in done.stderr


def test_tensorboards(gcloud: Run) -> None:
    region = ("--region", "us-central1")

    made = gcloud("ai", "tensorboards", "create", "--display-name", "of gcloud", *region)
    assert made.returncode == 0, made.stderr
    own = ("--filter=displayName='of gcloud'", "--format=value(name)")
    (name,) = gcloud("ai", "tensorboards", "list", *region, *own).stdout.split()
    assert "displayName: of gcloud" in gcloud("ai", "tensorboards", "describe", name).stdout
    assert gcloud("ai", "tensorboards", "delete", name).returncode == 0
    assert gcloud("ai", "tensorboards", "list", *region, *own).stdout == ""
