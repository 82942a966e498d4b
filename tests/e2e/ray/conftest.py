"""One Ray for all tests of a worker."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clients.conftest import environment_of
from tests.support.machines import require_machines
from tests.support.ray_cluster import RayCluster, running_ray
from tests.support.short_folder import short_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def ray_python() -> Path:
    """An interpreter that has Ray."""
    require_machines()
    return Path(environment_of("ray-2.60.0"))


@pytest.fixture(scope="session")
def ray_cluster(ray_python: Path) -> Iterator[RayCluster]:
    with short_folder("ray") as folder, running_ray(ray_python, folder) as cluster:
        yield cluster
