"""One Slurm for all tests of a worker."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.requirements import require
from tests.support.slurm import SlurmCluster, missing_programs, running_slurm


def require_slurm() -> None:
    absent = [*missing_programs(), *(() if os.getuid() == 0 else ("root",))]
    packages = "(Debian: apt-get install slurm-wlm munge)"
    require(f"Slurm needs {', '.join(absent)} {packages}" if absent else None)


@pytest.fixture(scope="session")
def slurm() -> Iterator[SlurmCluster]:
    require_slurm()
    # munged gives up its rights, and must still find its socket: pytest's folders hide all.
    with (
        tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder,
        running_slurm(Path(folder)) as cluster,
    ):
        yield cluster
