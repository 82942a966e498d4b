"""One service for all tests with unmodified clients, and the clients themselves."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pytest
from google.auth.credentials import AnonymousCredentials
from google.cloud import storage
from googleapiclient import discovery

from footplate.testing.service import RunningService, outside
from tests.support.client_environments import environment_of, python_of
from tests.support.forked_process import SDK_SCRIPT, run_footplate, run_forked
from tests.support.gcloud import find_gcloud
from tests.support.request_record import recorded_service
from tests.support.trainers import Trainers

if TYPE_CHECKING:
    import subprocess

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / ".cache"
PROJECT = "demo"
REGION = "us-central1"
SDK_VERSIONS = ("2.7.0", "1.71.1")
LIMIT_S = 900.0
"""For what may have to download a runtime first; a warm cache takes a hundredth of it."""

_POLL_S = 0.1
_TERMINAL = {"SUCCEEDED", "FAILED", "CANCELLED"}


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    data_dir = tmp_path_factory.mktemp("service") / "data"
    with recorded_service(data_dir, CACHE / "footplate", stop_grace_s=2) as service:
        yield service


@pytest.fixture
def bucket(service: RunningService, storage_client: storage.Client) -> storage.Bucket:
    """A new one."""
    return storage_client.create_bucket(f"bucket-{uuid4().hex[:12]}")


@pytest.fixture
def trainers(bucket: storage.Bucket, tmp_path: Path) -> Trainers:
    return Trainers(tmp_path / "trainers", bucket)


@pytest.fixture(scope="session")
def anonymous() -> Any:
    """Google's credentials for nobody. Any: their classes have no types."""
    make: Any = AnonymousCredentials
    return make()


# google-cloud-storage and googleapiclient, in this process -------------------------------------


@pytest.fixture(scope="session")
def storage_client(service: RunningService, anonymous: Any) -> Iterator[storage.Client]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("STORAGE_EMULATOR_HOST", service.url)
        client = storage.Client(PROJECT, anonymous)
    yield client
    client.close()


@pytest.fixture(scope="session")
def ml_client(service: RunningService, anonymous: Any) -> Iterator[Any]:
    options = {"api_endpoint": service.url}
    with discovery.build("ml", "v1", client_options=options, credentials=anonymous) as client:
        yield client


@pytest.fixture
def ml(ml_client: Any) -> Any:
    """``projects`` of ml v1. Any: the client makes its methods from a document."""
    # Between two tests of a worker more time may lie than the server keeps an idle connection, and
    # httplib2 fails on a closed one when it has a body to send.
    ml_client.close()
    return ml_client.projects()


@pytest.fixture
def finish(ml: Any) -> Callable[..., dict[str, Any]]:
    """Wait until a training job has ended, or is in one of ``states``; returns it."""

    def wait(job_id: str, *states: str) -> dict[str, Any]:
        deadline = time.monotonic() + LIMIT_S
        wanted = _TERMINAL | set(states)
        while time.monotonic() < deadline:
            job: dict[str, Any] = ml.jobs().get(name=f"projects/{PROJECT}/jobs/{job_id}").execute()
            if job["state"] in wanted:
                return job
            time.sleep(_POLL_S)
        raise TimeoutError(f"job {job_id} has not ended")

    return wait


# Programs --------------------------------------------------------------------------------------


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the user who runs the clients: nothing is configured in it."""
    return tmp_path_factory.mktemp("home")


@pytest.fixture
def footplate(
    service: RunningService, home: Path, tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line, which finds the service through the data directory."""

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        environment = service.environment(HOME=str(home))
        return run_footplate(*map(str, words), env=environment, cwd=tmp_path, timeout=LIMIT_S)

    return run


@pytest.fixture(scope="session")
def pointed(service: RunningService, home: Path) -> dict[str, str]:
    """The environment after ``eval "$(footplate env)"`` in a shell."""
    environment = service.environment(HOME=str(home), CLOUDSDK_CONFIG=str(home / "gcloud"))
    lines = run_footplate("env", env=environment, check=True).stdout
    shell = ["sh", "-c", 'eval "$1" && env -0', "sh", lines]
    found = run_forked(shell, env=environment, check=True)
    return dict(pair.split("=", 1) for pair in found.stdout.split("\0") if pair)


@pytest.fixture
def gcloud(
    pointed: dict[str, str], tmp_path: Path
) -> Callable[..., subprocess.CompletedProcess[str]]:
    """The real one of PATH, in a directory of its own."""
    program = find_gcloud()

    def run(*words: object) -> subprocess.CompletedProcess[str]:
        command = (program, "--quiet", *map(str, words))
        return run_forked(command, env=pointed, cwd=tmp_path, timeout=LIMIT_S)

    return run


# google-cloud-aiplatform -----------------------------------------------------------------------


@pytest.fixture(scope="session", params=SDK_VERSIONS)
def sdk_python(request: pytest.FixtureRequest) -> str:
    return python_of(request.param)


@pytest.fixture
def sdk(
    sdk_python: str, service: RunningService, bucket: storage.Bucket, home: Path, tmp_path: Path
) -> Callable[[str], list[str]]:
    """Run a script that begins with the recipe for REST; returns the lines that it prints."""
    environment = _sdk_environment(service, bucket, home)
    return partial(_run_script, sdk_python, environment, tmp_path)


@pytest.fixture
def vizier_sdk(
    service: RunningService, bucket: storage.Bucket, home: Path, tmp_path: Path
) -> Callable[[str], list[str]]:
    """As ``sdk``, where the SDK's classes of studies and trials can be imported."""
    python = environment_of("vizier-0.1.24")
    environment = _sdk_environment(service, bucket, home)
    return partial(_run_script, python, environment, tmp_path)


def _sdk_environment(service: RunningService, bucket: storage.Bucket, home: Path) -> dict[str, str]:
    return outside(os.environ) | {
        "HOME": str(home),
        "STORAGE_EMULATOR_HOST": service.url,
        "URL": service.url,
        "BUCKET": bucket.name,
    }


def _run_script(python: str, environment: dict[str, str], folder: Path, text: str) -> list[str]:
    script = folder / "submit.py"
    script.write_text(f"{_RECIPE}\n{text}")
    command = (python, str(SDK_SCRIPT), str(script))
    done = run_forked(command, env=environment, cwd=folder, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return [line[2:] for line in done.stdout.splitlines() if line.startswith("> ")]


_RECIPE = f'''
import os, time
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform

BUCKET = "gs://" + os.environ["BUCKET"]
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
aiplatform.init(project="{PROJECT}", location="{REGION}", staging_bucket=BUCKET,
                api_endpoint=os.environ["URL"], api_transport="rest",
                credentials=AnonymousCredentials())

def from_script(name, text, **more):
    with open(name + ".py", "w") as file:
        file.write(text)
    return aiplatform.CustomJob.from_local_script(name, name + ".py", IMAGE, **more)

def wait_for(job, state):
    deadline = time.monotonic() + {LIMIT_S}
    while job.state.name != "JOB_STATE_" + state:
        assert time.monotonic() < deadline, job.state
        time.sleep({_POLL_S})

def say(*words):
    print(">", *words)
'''
