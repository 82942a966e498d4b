"""A Kubernetes whose nodes are machines of their own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.kubernetes import require_kubernetes
from tests.support.kubernetes_machines import KubernetesMachines, kubernetes_on_machines
from tests.support.machines import require_machines
from tests.support.short_folder import short_folder


@pytest.fixture(scope="module")
def machines() -> Iterator[KubernetesMachines]:
    require_kubernetes()
    require_machines()
    with (
        short_folder("k8s") as folder,
        kubernetes_on_machines(folder / "rig") as found,
    ):
        yield found
