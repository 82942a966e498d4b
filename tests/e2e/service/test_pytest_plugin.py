"""The fixture ``footplate``, as projects of users find it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from footplate.client.error_mapping import NoServer
from footplate.client.service import Service
from footplate.testing.workbench import ProgramFailed, Workbench
from tests.e2e.service.conftest import CACHE
from tests.support.trainers import pack_trainer


@pytest.fixture
def footplate_settings() -> dict[str, object]:
    return {"max_replicas": 3, "token": "a-token"}


def test_a_test_has_a_service_of_its_own(footplate: Workbench, tmp_path: Path) -> None:
    with footplate.client() as client:
        assert client.status().url == footplate.url
        assert list(client.training_jobs.list("demo")) == []
    assert footplate.env["FOOTPLATE_DATA_DIR"] == str(footplate.service.data_dir)
    assert "up to 3 replicas" in footplate.service.log.read_text("utf-8")

    bucket = footplate.make_bucket("stage")
    (tmp_path / "hello.txt").write_text("hello")
    script = (
        "from google.cloud import storage;"
        "storage.Client().bucket('stage').blob('a/b').upload_from_filename('hello.txt')"
    )
    footplate.run("python", "-c", script, cwd=tmp_path)
    assert (bucket / "a" / "b").read_text() == "hello"
    assert footplate.command("storage", "ls", "-r", "gs://stage").split() == ["gs://stage/a/b"]

    with pytest.raises(ProgramFailed, match=r"(?s)^python -c .* ended with 3:\nsorry"):
        footplate.run("python", "-c", "print('sorry'); raise SystemExit(3)")
    with pytest.raises(ProgramFailed, match=r"^footplate ai-platform jobs describe none ended"):
        footplate.command("ai-platform", "jobs", "describe", "none")


def test_its_jobs_end_with_the_test(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(
        "def test_it(footplate):\n    print('URL', footplate.url)\n    assert 0\n"
    )
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_one.py")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    (url,) = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("URL ")]
    with Service(url) as client, pytest.raises(NoServer):
        client.health()


FAILING = """
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"

def test_it(footplate):
    from footplate.domain.names import GcsUri
    footplate.make_bucket("stage")
    with footplate.client() as client:
        packed = open("trainer.tar.gz", "rb").read()
        client.storage.upload(GcsUri("stage", "trainer.tar.gz"), packed)
        pool = {
            "replicaCount": 1,
            "machineSpec": {"machineType": "n1-standard-4"},
            "pythonPackageSpec": {
                "executorImageUri": IMAGE,
                "packageUris": ["gs://stage/trainer.tar.gz"],
                "pythonModule": "trainer.task",
            },
        }
        body = {"displayName": "fails", "jobSpec": {"workerPoolSpecs": [pool]}}
        job = client.custom_jobs.create("demo", "us-central1", body)
        list(client.logs(job.name, follow=True))
        while not client.job(job.name).state.terminal:
            pass
    assert 0, "the trainer failed"
"""
TRAINER = """
def load():
    raise ValueError("no rows")

for step in range(50):
    print("step", step)
load()
"""


def test_a_test_that_fails_shows_which_jobs_failed_and_their_last_lines(tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text(FAILING)
    (tmp_path / "trainer.tar.gz").write_bytes(pack_trainer(TRAINER, None))
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_one.py")
    environment = {**os.environ, "FOOTPLATE_CACHE_DIR": str(CACHE)}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    section = done.stdout.partition("Jobs that failed")[2]
    assert "ValueError: no rows (at task.py:3 in load)" in section, done.stdout
    assert "The last 40 lines of the job's log:\n" in section
    assert "    step 49\n" in section
    assert "    ValueError: no rows\n" in section
    assert "    step 1\n" not in section
    assert "The whole log: footplate ai custom-jobs stream-logs projects/demo/" in section
    assert "In the console: http://127.0.0.1:" in section


def test_a_project_without_it_pays_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_none.py").write_text(
        "import sys\n"
        "def test_it():\n"
        "    assert {m for m in sys.modules if m.startswith('footplate')}\\\n"
        "        == {'footplate', 'footplate.pytest_plugin'}\n"
    )
    command = (sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_none.py")
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
