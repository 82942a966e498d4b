"""The real ``gcloud`` builds images with a private dockerd, and the service runs them."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.engines import PrivateEngine, make_python_image, private_dockerd
from tests.support.engines.requirements import require_engine
from tests.support.forked_process import run_forked
from tests.support.gcloud import find_gcloud
from tests.support.request_record import recorded_service

if TYPE_CHECKING:
    import subprocess

BASE = "base-for-gcloud:dev"
PROGRAM = "import os, sys; print('trained', sys.argv[1:], 'CLUSTER_SPEC' in os.environ)"
LIMIT_S = 300.0


@pytest.fixture(scope="module")
def dockerd(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateEngine]:
    require_engine("docker")
    if shutil.which("docker") is None:
        pytest.fail("the docker command is not on PATH (Debian: docker.io, or docker-cli)")
    with private_dockerd(tmp_path_factory.mktemp("dockerd") / "engine") as engine:
        make_python_image(engine.socket, BASE)
        yield engine


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "trainer").mkdir(parents=True)
    (folder / "trainer" / "__init__.py").touch()
    (folder / "trainer" / "task.py").write_text(PROGRAM)
    return folder


def run(environment: dict[str, str], *words: str) -> subprocess.CompletedProcess[str]:
    command = (find_gcloud(), "--quiet", "ai", "custom-jobs", *words)
    done = run_forked(command, env=environment, timeout=LIMIT_S)
    assert done.returncode == 0, done.stderr
    return done


def settings(engine: PrivateEngine, folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "CLOUDSDK_CONFIG": str(folder / "gcloud"),
        "CLOUDSDK_CORE_PROJECT": "demo",
        "DOCKER_HOST": engine.url,
        "DOCKER_CONFIG": str(folder / "docker"),
        "DOCKER_BUILDKIT": "0",
    }


def test_the_service_runs_what_local_run_built(
    dockerd: PrivateEngine, code: Path, tmp_path: Path
) -> None:
    """Local-run asks nobody but the engine; its image then is one that jobs can name."""
    image = "made-by-gcloud:dev"
    environment = settings(dockerd, tmp_path)
    done = run(
        environment, "local-run", f"--executor-image-uri={BASE}",
        "--python-module=trainer.task", f"--local-package-path={code}",
        f"--output-image-uri={image}", "--", "--epochs", "3",
    )  # fmt: skip
    assert "trained ['--epochs', '3'] False" in done.stdout + done.stderr
    with recorded_service(tmp_path / "data", container_engine=str(dockerd.socket)) as service:
        environment |= pointed(service.url)
        pool = f"machine-type=n1-standard-4,container-image-uri={image}"
        made = run(
            environment, "create", "--region=us-central1", "--display-name=built",
            f"--worker-pool-spec={pool}", "--args=--epochs,4", "--format=json",
        )  # fmt: skip
        name = json.loads(made.stdout)["name"]
        job = _ended(environment, name)
        lines = run(
            environment, "stream-logs", name, "--region=us-central1", "--polling-interval=1"
        ).stdout
    assert job["state"] == "JOB_STATE_SUCCEEDED", job
    assert "trained ['--epochs', '4'] True" in lines


def test_create_builds_for_registries_of_google_only(
    dockerd: PrivateEngine, code: Path, tmp_path: Path
) -> None:
    """Gcloud's own rule, before it calls anybody: coverage.md says so."""
    pool = (
        f"machine-type=n1-standard-4,executor-image-uri={BASE},local-package-path={code},"
        "python-module=trainer.task,output-image-uri=127.0.0.1:5000/team/trainer:v1"
    )
    words = ("create", "--region=us-central1", "--display-name=built", f"--worker-pool-spec={pool}")
    with pytest.raises(
        AssertionError, match=r"has to be a valid gcr\.io or Artifact Registry image"
    ):
        run(settings(dockerd, tmp_path) | pointed("http://127.0.0.1:1"), *words)


def pointed(url: str) -> dict[str, str]:
    return {
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM": f"{url}/",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING": f"{url}/",
    }


def _ended(environment: dict[str, str], name: str) -> dict[str, Any]:
    deadline = time.monotonic() + LIMIT_S
    while time.monotonic() < deadline:
        told = run(environment, "describe", name, "--region=us-central1", "--format=json").stdout
        job: dict[str, Any] = json.loads(told)
        if job.get("endTime"):
            return job
        time.sleep(0.5)
    raise TimeoutError(name)
