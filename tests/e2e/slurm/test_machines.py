"""A real Slurm whose nodes are machines of their own, which die and are cut off."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.slurm.conftest import require_slurm
from tests.support.machine_faults_contract import MachineFaultsContract
from tests.support.machines import require_machines
from tests.support.slurm import SlurmMachines, running_slurm_on_machines
from tests.support.slurm_rig import SlurmMachinesRig

if TYPE_CHECKING:
    from collections.abc import Iterator

LEASE_S, MARGIN_S = 10.0, 5.0


@pytest.fixture(scope="session")
def machines() -> Iterator[SlurmMachines]:
    require_slurm()
    require_machines()
    with (
        tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder,
        running_slurm_on_machines(Path(folder)) as cluster,
    ):
        yield cluster


class TestSlurmMachines(MachineFaultsContract):
    @pytest.fixture
    def rig(self, machines: SlurmMachines, tmp_path: Path) -> Iterator[SlurmMachinesRig]:
        rig = SlurmMachinesRig(machines, tmp_path, lease_s=LEASE_S, margin_s=MARGIN_S)
        yield rig
        rig.close()
