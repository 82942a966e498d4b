"""One Kubernetes for all tests of a worker."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.kubernetes import Kubernetes, private_kubernetes, require_kubernetes
from tests.support.short_folder import short_folder

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(scope="session")
def kubernetes() -> Iterator[Kubernetes]:
    require_kubernetes()
    with (
        short_folder("k8s") as folder,
        private_kubernetes(folder / "rig") as cluster,
    ):
        yield cluster
