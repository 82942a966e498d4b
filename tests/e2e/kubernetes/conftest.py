"""One Kubernetes for all tests of a worker."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.kubernetes import Kubernetes, private_kubernetes, require_kubernetes

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def kubernetes() -> Iterator[Kubernetes]:
    require_kubernetes()
    # Its sockets' paths must be short.
    with (
        tempfile.TemporaryDirectory(prefix="k8s-", ignore_cleanup_errors=True) as folder,
        private_kubernetes(Path(folder) / "rig") as cluster,
    ):
        yield cluster
