"""A real Ray whose nodes are machines of their own, which die and are cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.machine_faults_contract import MachineFaultsContract
from tests.support.ray_machines import RayMachines, ray_on_machines
from tests.support.ray_rig import RayMachinesRig
from tests.support.short_folder import short_folder

LEASE_S, MARGIN_S = 15.0, 5.0


@pytest.fixture(scope="module")
def machines(ray_python: Path) -> Iterator[RayMachines]:
    with short_folder("ray") as folder, ray_on_machines(ray_python, folder) as found:
        yield found


class TestRayMachines(MachineFaultsContract):
    @pytest.fixture
    def rig(self, machines: RayMachines, tmp_path: Path) -> Iterator[RayMachinesRig]:
        rig = RayMachinesRig(machines, tmp_path, lease_s=LEASE_S, margin_s=MARGIN_S)
        yield rig
        rig.close()
