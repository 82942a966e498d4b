"""The contract of backends, over a real Slurm."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.engine_contract import EngineContract
from tests.support.slurm import SlurmCluster
from tests.support.slurm_rig import SlurmRig


class TestSlurmBackend(EngineContract):
    @pytest.fixture
    def rig(self, slurm: SlurmCluster, tmp_path: Path) -> Iterator[SlurmRig]:
        rig = SlurmRig(slurm, tmp_path)
        yield rig
        rig.close()
