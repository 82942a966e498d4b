"""Real configuration files of ``ai-platform jobs submit training``, each with its verdict.

As their authors did, package, module, region and runtime version are given on the command line.
Behind the real faces is a service that keeps jobs and runs none: a valid one is accepted.
"""

from __future__ import annotations

import io
import json
import os
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from prometheus_client import CollectorRegistry

from footplate.api.app import create_app
from footplate.api.health import health_routes
from footplate.api.security import Access
from footplate.api.storage_v1 import storage_routes
from footplate.api.training_v1 import training_routes
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.catalogue import load_catalogue
from footplate.cli.main import main
from footplate.domain.names import TrainingJobName
from footplate.server.clock import SystemClock
from tests.clients.corpus import Entry, entries, require_corpus
from tests.support.forked_process import run_forked
from tests.support.gcloud import endpoint_variables, find_gcloud
from tests.support.http_server import serve
from tests.support.jobs_service import MemoryJobs
from tests.support.shares import MORE

ENTRIES = entries("aip")
PROJECT, REGION = "demo", "us-central1"
REFUSED_AT = "trainingInput.hyperparameters.params"
"""What is wrong with each refused file of the corpus stands there."""


@dataclass(frozen=True)
class Service:
    """``folder`` is empty but for a package, ``trainer-0.1.tar.gz``."""

    url: str
    jobs: MemoryJobs
    folder: Path

    def words(self, job_id: str, entry: Entry) -> list[str]:
        """A submit with the file."""
        return [
            *("ai-platform", "jobs", "submit", "training", job_id),
            f"--config={entry.path}",
            f"--packages={self.folder / 'trainer-0.1.tar.gz'}",
            "--staging-bucket=gs://stage",
            "--module-name=trainer.task",
            f"--region={REGION}",
            "--runtime-version=2.21",
            "--python-version=3.11",
        ]

    def has(self, job_id: str) -> bool:
        names = (submission.name for submission in self.jobs.submissions)
        return TrainingJobName(PROJECT, job_id) in names


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder, jobs = tmp_path_factory.mktemp("corpus"), MemoryJobs()
    with tarfile.open(folder / "trainer-0.1.tar.gz", "w:gz") as package:
        package.addfile(tarfile.TarInfo("trainer-0.1/setup.py"), io.BytesIO())
    buckets = FolderBuckets(tmp_path_factory.mktemp("buckets"), SystemClock())
    buckets.create_bucket("stage")
    routes = [
        *health_routes("1.2.3", CollectorRegistry(), dict),
        *training_routes(jobs, load_catalogue(), jobs.kept_trials),
        *storage_routes(buckets),
    ]
    with serve(create_app(routes, Access())) as url:
        yield Service(url, jobs, folder)
    buckets.close()


def test_the_corpus_is_there() -> None:
    require_corpus()
    assert sum(entry.accepted for entry in ENTRIES) > 30
    assert sum(not entry.accepted for entry in ENTRIES) > 3


def name_by_turn(entry: Entry) -> str:
    """Every fourth accepted file, and each refused one, goes through gcloud in each run."""
    return str(entry) if not entry.accepted or ENTRIES.index(entry) % 4 == 0 else f"{MORE}{entry}"


@pytest.mark.parametrize("entry", ENTRIES, ids=name_by_turn)
def test_gcloud(service: Service, entry: Entry) -> None:
    job_id = f"gcloud_{entry}"
    home = service.folder / "home"
    environment = {
        **endpoint_variables(service.url, PROJECT, REGION),
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "CLOUDSDK_CONFIG": str(home / "gcloud"),
    }
    command = (find_gcloud(), "--quiet", *service.words(job_id, entry))
    done = run_forked(command, env=environment, cwd=service.folder, timeout=300)
    judge(service, entry, job_id, done.returncode, done.stderr)


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_footplate(service: Service, entry: Entry) -> None:
    job_id = f"footplate_{entry}"
    environment = {
        "FOOTPLATE_URL": service.url,
        "FOOTPLATE_PROJECT": PROJECT,
        "FOOTPLATE_TOKEN": None,
    }
    done = CliRunner(env=environment).invoke(main, service.words(job_id, entry))
    judge(service, entry, job_id, done.exit_code, done.stderr)


def judge(service: Service, entry: Entry, job_id: str, status: int, told: str) -> None:
    """A job is there after an accepted file; after a refused one it is said what is wrong."""
    if entry.accepted:
        assert status == 0, told
        assert service.has(job_id)
        return
    assert status == 1
    assert REFUSED_AT in told
    assert not service.has(job_id)


def test_the_files_say_what_the_jobs_become(service: Service) -> None:
    """A few of them, as the service sees them: machines, replicas, searches."""
    require_corpus()
    found = {}
    for entry in ENTRIES:
        if str(entry) in ("022", "016", "101", "031"):
            done = CliRunner(
                env={"FOOTPLATE_URL": service.url, "FOOTPLATE_PROJECT": PROJECT}
            ).invoke(main, service.words(f"again_{entry}", entry))
            assert done.exit_code == 0, done.stderr
            found[str(entry)] = service.jobs.submissions[-1]
    assert {key: len(made.spec.replica_names()) for key, made in found.items()} == {
        "016": 1,
        "022": 90,
        "031": 1,
        "101": 5,
    }
    assert found["016"].tuning is not None
    assert (found["016"].tuning.parameters, found["016"].tuning.max_trials) == (4, 30)
    (pool,) = found["031"].spec.pools  # a cloud_tpu worker runs no program
    assert pool.machine.machine_type == "standard"
    assert json.loads(found["101"].request)["trainingInput"]["masterType"] == "standard_p100"
