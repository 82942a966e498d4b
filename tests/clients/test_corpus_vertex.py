"""Real config files for Vertex AI get their verdicts, through gcloud and through our commands."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from footplate.api.security import Access
from footplate.cli.main import main
from footplate.testing.service import outside
from tests.api.faces.conftest import build
from tests.clients.corpus import Entry, entries, require_corpus
from tests.support.forked_process import run_forked
from tests.support.gcloud import endpoint_variables, find_gcloud
from tests.support.http_server import serve
from tests.support.jobs_service import MemoryJobs

if TYPE_CHECKING:
    import subprocess

LIMIT_S = 120.0
REGION = "us-central1"
FLAGS = (f"--region={REGION}", "--display-name=from-a-file")
CUSTOM, TUNING = entries("vertex-custom"), entries("vertex-hp")


@pytest.fixture
def jobs() -> MemoryJobs:
    return MemoryJobs()


@pytest.fixture
def url(jobs: MemoryJobs) -> Iterator[str]:
    with serve(build(jobs, Access())) as url:
        yield url


def gcloud(url: str, home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    own = {"HOME": str(home), "CLOUDSDK_CONFIG": str(home / "gcloud")}
    pointed = endpoint_variables(url, "demo", REGION)
    environment = {**outside(os.environ), **own, **pointed}
    command = (find_gcloud(), "--quiet", "ai", *words)
    return run_forked(command, env=environment, timeout=LIMIT_S)


def check(entry: Entry, jobs: MemoryJobs, status: int, errors: str) -> None:
    """One job was made of a good file, none of another; what is wrong stands in a field."""
    assert len(jobs.submissions) == entry.accepted, errors
    assert (status == 0) == entry.accepted, errors
    if entry.decided_by == "service":
        assert "obSpec." in errors or "studySpec." in errors


def test_the_corpus_is_there() -> None:
    require_corpus()
    assert CUSTOM
    assert TUNING


@pytest.mark.parametrize("entry", CUSTOM, ids=str)
def test_custom_jobs_by_gcloud(entry: Entry, jobs: MemoryJobs, url: str, tmp_path: Path) -> None:
    done = gcloud(url, tmp_path, "custom-jobs", "create", *FLAGS, f"--config={entry.path}")
    check(entry, jobs, done.returncode, done.stderr)


@pytest.mark.parametrize("entry", CUSTOM, ids=str)
def test_custom_jobs_by_our_command_line(entry: Entry, jobs: MemoryJobs, url: str) -> None:
    words = ("ai", "custom-jobs", "create", *FLAGS, f"--config={entry.path}")
    done = CliRunner(env={"FOOTPLATE_URL": url, "FOOTPLATE_TOKEN": None}).invoke(main, words)
    check(entry, jobs, done.exit_code, done.stderr)


@pytest.mark.parametrize("entry", TUNING, ids=str)
def test_tuning_jobs_by_gcloud(entry: Entry, jobs: MemoryJobs, url: str, tmp_path: Path) -> None:
    done = gcloud(url, tmp_path, "hp-tuning-jobs", "create", *FLAGS, f"--config={entry.path}")
    check(entry, jobs, done.returncode, done.stderr)
    assert all(submission.tuning for submission in jobs.submissions)


TWISTS = {
    "several mappings in place of lists": (
        """
        workerPoolSpecs:
          machineSpec: {machineType: n1-standard-4}
          containerSpec: {imageUri: gcr.io/demo/trainer, args: --x, env: {name: A, value: b}}
        """,
        True,
    ),
    "a skipped pool": (
        """
        workerPoolSpecs:
        - {replicaCount: 1, machineSpec: &m {machineType: n1-standard-4},
           containerSpec: &c {imageUri: gcr.io/demo/trainer}}
        - {replicaCount: 2, machineSpec: *m, containerSpec: *c}
        """,
        True,
    ),
    "accelerators of the wrong number": (
        """
        workerPoolSpecs:
        - {replicaCount: 1, containerSpec: {imageUri: gcr.io/demo/trainer},
           machineSpec: {machineType: n1-standard-32, acceleratorType: NVIDIA_TESLA_V100,
                         acceleratorCount: 2}}
        """,
        False,
    ),
    "a legacy machine": (
        """
        workerPoolSpecs:
        - {replicaCount: 1, containerSpec: {imageUri: gcr.io/demo/trainer},
           machineSpec: {machineType: standard_gpu}}
        """,
        False,
    ),
}


@pytest.mark.parametrize("name", TWISTS)
@pytest.mark.parametrize("client", ["gcloud", "footplate"])
def test_twists(name: str, client: str, jobs: MemoryJobs, url: str, tmp_path: Path) -> None:
    text, accepted = TWISTS[name]
    path = tmp_path / "job.yaml"
    path.write_text(text)
    entry = Entry(path, "vertex-custom", accepted, "-" if accepted else "service", "")
    if client == "gcloud":
        test_custom_jobs_by_gcloud(entry, jobs, url, tmp_path)
    else:
        test_custom_jobs_by_our_command_line(entry, jobs, url)
