"""A real Ray whose nodes are machines of their own, which die and are cut off."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clients.conftest import environment_of
from tests.support.machine_faults_contract import MachineFaultsContract
from tests.support.machines import require_machines
from tests.support.ray_machines import RayMachines, ray_on_machines
from tests.support.ray_rig import RayMachinesRig

if TYPE_CHECKING:
    from collections.abc import Iterator

LEASE_S, MARGIN_S = 15.0, 5.0


@pytest.fixture(scope="module")
def machines() -> Iterator[RayMachines]:
    require_machines()
    python = Path(environment_of("ray-2.60.0"))
    # Its sockets' paths must be short.
    with (
        tempfile.TemporaryDirectory(prefix="ray-", ignore_cleanup_errors=True) as folder,
        ray_on_machines(python, Path(folder)) as found,
    ):
        yield found


class TestRayMachines(MachineFaultsContract):
    @pytest.fixture
    def rig(self, machines: RayMachines, tmp_path: Path) -> Iterator[RayMachinesRig]:
        rig = RayMachinesRig(machines, tmp_path, lease_s=LEASE_S, margin_s=MARGIN_S)
        yield rig
        rig.close()
