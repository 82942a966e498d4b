"""A real Kubernetes whose nodes are machines of their own, which die and are cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.kubernetes_machines import KubernetesMachines
from tests.support.kubernetes_rig import KubernetesMachinesRig
from tests.support.machine_faults_contract import MachineFaultsContract

pytestmark = pytest.mark.soak

LEASE_S, MARGIN_S = 10.0, 10.0
"""Longer than Kubernetes takes to see that a node is away."""


class TestKubernetesMachines(MachineFaultsContract):
    @pytest.fixture
    def rig(self, machines: KubernetesMachines, tmp_path: Path) -> Iterator[KubernetesMachinesRig]:
        rig = KubernetesMachinesRig(machines, tmp_path, lease_s=LEASE_S, margin_s=MARGIN_S)
        yield rig
        rig.close()
