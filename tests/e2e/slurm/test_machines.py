"""A real Slurm whose nodes are machines of their own, which die and are cut off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.machine_faults_contract import MachineFaultsContract
from tests.support.slurm import SlurmMachines, running_slurm_on_machines
from tests.support.slurm_rig import SlurmMachinesRig

LEASE_S, MARGIN_S = 15.0, 5.0


@pytest.fixture(scope="session")
def machines() -> Iterator[SlurmMachines]:
    with running_slurm_on_machines() as cluster:
        yield cluster


class TestSlurmMachines(MachineFaultsContract):
    @pytest.fixture
    def rig(self, machines: SlurmMachines, tmp_path: Path) -> Iterator[SlurmMachinesRig]:
        rig = SlurmMachinesRig(machines, tmp_path, lease_s=LEASE_S, margin_s=MARGIN_S)
        yield rig
        rig.close()
