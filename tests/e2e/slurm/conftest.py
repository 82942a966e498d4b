"""One Slurm for all tests of a worker."""

from collections.abc import Iterator

import pytest

from tests.support.slurm import SlurmCluster, require_slurm, running_slurm, short_folder


@pytest.fixture(scope="session")
def slurm() -> Iterator[SlurmCluster]:
    require_slurm()
    with short_folder() as folder, running_slurm(folder) as cluster:
        yield cluster
