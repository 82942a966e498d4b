"""One Slurm for all tests of a worker."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.slurm import SlurmCluster, missing_programs, running_slurm


@pytest.fixture(scope="session")
def slurm() -> Iterator[SlurmCluster]:
    """A running Slurm; without its programs tests are skipped, and in CI they fail."""
    missing = missing_programs()
    if missing or os.getuid() != 0:
        reason = f"needs root and {missing} (Debian: apt-get install slurm-wlm munge)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    # munged gives up its rights, and must still find its socket: pytest's folders hide all.
    with (
        tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True) as folder,
        running_slurm(Path(folder)) as cluster,
    ):
        yield cluster
