"""A service with a region on a real Slurm whose nodes are machines with addresses of their own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.domain.names import GcsUri
from footplate.testing.service import running_service
from tests.e2e.frameworks.conftest import Clusters
from tests.e2e.service.conftest import BUCKET, CACHE
from tests.support.environments import make_wheel
from tests.support.slurm import SlurmMachines, running_slurm_on_machines

SETTINGS = """\
cluster_address = "{address}:0"

[[regions]]
name = "us-central1"
backend = "slurm"
scratch = "{scratch}"
shared = "{shared}"

[regions.machines]
"*" = "--cpus-per-task=1 --mem-per-cpu=200 --ntasks-per-node=1"
"""


@pytest.fixture(scope="module")
def machines() -> Iterator[SlurmMachines]:
    with running_slurm_on_machines() as cluster:
        yield cluster


@pytest.fixture
def clusters(
    machines: SlurmMachines, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Clusters]:
    monkeypatch.setenv("SLURM_CONF", machines.environment["SLURM_CONF"])
    data = tmp_path / "data"
    data.mkdir()
    text = SETTINGS.format(
        address=machines.address, scratch=tmp_path / "scratch", shared=CACHE.parent
    )
    (data / "footplate.toml").write_text(text)
    with running_service(data, CACHE, stop_grace_s=1) as service:
        yield Clusters(service)
        machines.cancel_all()


def upload_trainer(clusters: Clusters, folder: Path, task: str) -> GcsUri:
    """As a wheel, made in ``folder``: the machines reach nothing that others are built with."""
    wheel = make_wheel(
        folder, "trainer", files={"trainer/__init__.py": "", "trainer/task.py": task}
    )
    package = GcsUri(BUCKET, wheel.name)
    with clusters.client() as client:
        client.storage.upload(package, wheel.read_bytes())
    return package
