"""One Ray for all tests of a worker."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clients.conftest import environment_of
from tests.support.machines import require_machines
from tests.support.ray_cluster import RayCluster, running_ray

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[RayCluster]:
    require_machines()
    python = Path(environment_of("ray-2.60.0"))
    # Its sockets' paths must be short.
    with (
        tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder,
        running_ray(python, Path(folder)) as cluster,
    ):
        yield cluster
