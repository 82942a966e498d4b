"""One Slurm, one Kubernetes and one Ray for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.client_environments import environment_of
from tests.support.kubernetes import Kubernetes, private_kubernetes, require_kubernetes
from tests.support.machines import require_machines
from tests.support.ray_cluster import RayCluster, running_ray
from tests.support.short_folder import short_folder
from tests.support.slurm import SlurmCluster, require_slurm, running_slurm


@pytest.fixture(scope="session")
def slurm() -> Iterator[SlurmCluster]:
    require_slurm()
    with short_folder("slurm") as folder, running_slurm(folder) as cluster:
        yield cluster


@pytest.fixture(scope="session")
def kubernetes() -> Iterator[Kubernetes]:
    require_kubernetes()
    with short_folder("k8s") as folder, private_kubernetes(folder / "rig") as cluster:
        yield cluster


@pytest.fixture(scope="session")
def ray_python() -> Path:
    """An interpreter that has Ray."""
    require_machines()
    return Path(environment_of("ray-2.60.0"))


@pytest.fixture(scope="session")
def ray_cluster(ray_python: Path) -> Iterator[RayCluster]:
    with short_folder("ray") as folder, running_ray(ray_python, folder) as cluster:
        yield cluster
