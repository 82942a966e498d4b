"""The gRPC port with Google's own clients, each in a process of its own."""

from __future__ import annotations

import os
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from google.cloud import storage

from footplate.testing.service import FOOTPLATE, RunningService, outside, running_service
from tests.clients.conftest import CACHE, PROJECT
from tests.support.client_environments import environment_of, python_of
from tests.support.forked_process import run_footplate
from tests.support.own_process import case_names, run_cases, run_scripts
from tests.support.request_record import recorded_service

if TYPE_CHECKING:
    import subprocess

    Errors = Callable[[str], dict[Path, dict[str, str]]]

HERE = Path(__file__).parent
CLIENTS, SDK, VIZIER = (
    HERE / f"{name}.py" for name in ("grpc_cases", "grpc_sdk_cases", "grpc_vizier_cases")
)
EXPERIMENTS, FRAMES = HERE / "experiment_cases.py", HERE / "experiment_frame_cases.py"
SCRIPTS = {
    "2.7.0": (SDK, EXPERIMENTS),
    "1.71.1": (SDK, EXPERIMENTS, FRAMES),
    "1.38.1": (SDK, EXPERIMENTS),
}
"""Of each version of the SDK."""
LAUNCHER = (*FOOTPLATE, "run", "--")
LIMIT_S = 60
TOKEN_CASES = """
from google.api_core import exceptions
from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform_v1
import os, grpc
PARENT = "projects/demo/locations/us-central1"

def case_the_token_is_sent():
    assert list(aiplatform_v1.JobServiceClient().list_custom_jobs(parent=PARENT)) == []

def case_without_it_nothing_is_answered():
    pem = open(os.environ["GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"], "rb").read()
    credentials = grpc.ssl_channel_credentials(pem)
    with grpc.secure_channel(os.environ["GRPC_ADDRESS"], credentials) as channel:
        call = channel.unary_unary("/google.cloud.aiplatform.v1.JobService/ListCustomJobs")
        request = aiplatform_v1.ListCustomJobsRequest(parent=PARENT)
        content = aiplatform_v1.ListCustomJobsRequest.serialize(request)
        for metadata in ((), (("authorization", "Bearer wrong"),)):
            try:
                call(content, metadata=metadata, timeout=60)
            except grpc.RpcError as error:
                assert error.code() == grpc.StatusCode.PERMISSION_DENIED, error
                assert "token" in error.details()
            else:
                raise AssertionError("answered")
        call(content, metadata=(("authorization", "Bearer s3cret"),), timeout=60)
        call(content, metadata=(("x-goog-api-key", "s3cret"),), timeout=60)
"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, anonymous: Any) -> Iterator[RunningService]:
    """A service with a gRPC port, and buckets for what is submitted to it."""
    data_dir = tmp_path_factory.mktemp("grpc") / "data"
    with recorded_service(data_dir, CACHE / "footplate", stop_grace_s=2) as service:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("STORAGE_EMULATOR_HOST", service.url)
            client = storage.Client(PROJECT, anonymous)
        client.create_bucket("sdk")
        client.create_bucket("stage").blob("trainer-1.tar.gz").upload_from_string(b"")
        client.close()
        yield service


def run(
    service: RunningService, script: Path, folder: Path, python: str = sys.executable
) -> dict[str, str]:
    port = httpx.get(f"{service.url}/healthz").json()["grpcPort"]
    variables = service.environment(HOME=str(folder), GRPC_ADDRESS=f"127.0.0.1:{port}")
    return run_cases(script, variables, folder, LAUNCHER, python)


@pytest.fixture(scope="module")
def clients(served: RunningService, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return run(served, CLIENTS, tmp_path_factory.mktemp("clients"))


@pytest.mark.parametrize("name", case_names(CLIENTS))
def test_clients(name: str, clients: dict[str, str]) -> None:
    assert not clients[name], clients[name]


@pytest.fixture(scope="module")
def sdk(served: RunningService, tmp_path_factory: pytest.TempPathFactory) -> Errors:
    """What went wrong in the scripts of a version of the SDK, which one process runs once."""

    @cache
    def run_all(version: str) -> dict[Path, dict[str, str]]:
        folder = tmp_path_factory.mktemp("sdk")
        environment = served.environment(HOME=str(folder))
        return run_scripts(SCRIPTS[version], environment, folder, LAUNCHER, python_of(version))

    return run_all


@pytest.mark.parametrize("version", SCRIPTS)
@pytest.mark.parametrize("name", case_names(SDK))
def test_the_sdk_on_its_default_transport(version: str, name: str, sdk: Errors) -> None:
    error = sdk(version)[SDK][name]
    assert not error, error


@pytest.mark.parametrize("version", SCRIPTS)
@pytest.mark.parametrize("name", case_names(EXPERIMENTS))
def test_experiments(version: str, name: str, sdk: Errors) -> None:
    error = sdk(version)[EXPERIMENTS][name]
    assert not error, error


@pytest.mark.parametrize("version", ["1.71.1"])
def test_data_frames_of_experiments(version: str, sdk: Errors) -> None:
    errors = sdk(version)[FRAMES]
    assert not any(errors.values()), errors


def test_vizier(served: RunningService, tmp_path: Path) -> None:
    errors = run(served, VIZIER, tmp_path, environment_of("vizier-0.1.24"))
    assert not any(errors.values()), errors


def test_the_token_is_required_as_over_rest(tmp_path: Path) -> None:
    script = tmp_path / "token_cases.py"
    script.write_text(TOKEN_CASES)
    with running_service(tmp_path / "data", token="s3cret") as service:
        errors = run(service, script, tmp_path)
        answer = httpx.get(f"{service.url}/footplate/v1/certificateAuthority")
    assert not any(errors.values()), errors
    assert answer.status_code == 403


def test_env_names_the_authority_and_the_key_stays(served: RunningService, tmp_path: Path) -> None:
    authority = served.data_dir / "certificate_authority.pem"
    environment = served.environment(HOME=str(tmp_path))
    lines = run_footplate("env", env=environment, timeout=LIMIT_S, check=True).stdout.splitlines()
    name = "export GRPC_DEFAULT_SSL_ROOTS_FILE_PATH="
    (path,) = (line.removeprefix(name) for line in lines if line.startswith(name))

    pem = Path(path).read_text()

    assert pem.startswith("-----BEGIN CERTIFICATE-----")
    assert "PRIVATE" not in pem
    assert pem in authority.read_text()
    assert stat.S_IMODE(authority.stat().st_mode) == 0o600
    keys = [p for p in served.data_dir.rglob("*") if p.is_file() and b"PRIVATE KEY" in _read(p)]
    assert keys == [authority]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return b""


def test_the_authority_outlives_the_server(tmp_path: Path) -> None:
    service = RunningService(tmp_path / "data")
    found = []
    for _ in range(2):
        service.start()
        url = f"{service.url}/footplate/v1/certificateAuthority"
        found.append(httpx.get(url).json()["certificate"])
        service.stop()
    assert found[0] == found[1]


def up(tmp_path: Path, port: int) -> subprocess.CompletedProcess[str]:
    environment = {
        **outside(os.environ),
        "HOME": str(tmp_path),
        "FOOTPLATE_PORT": "0",
        "FOOTPLATE_DATA_DIR": str(tmp_path / "data"),
        "FOOTPLATE_GRPC_PORT": str(port),
    }
    return run_footplate("up", env=environment, timeout=LIMIT_S)


def test_a_taken_port_is_one_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = up(tmp_path, port)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"Error: grpc_port: {port} given: another program listens on this port; choose another "
        "grpc_port, or 0 for a free port\n"
    )
