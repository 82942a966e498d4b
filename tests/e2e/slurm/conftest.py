"""A service that has a region on a real Slurm."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import pytest

from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.support.slurm import PARTITION, SlurmCluster


class ServeRegion(Protocol):
    def __call__(self, keys: str, **settings: object) -> AbstractContextManager[Context]: ...


REGION = "europe-west4"
URGENT = "urgent"
SETTINGS = """\
cluster_address = "127.0.0.1:0"

[[regions]]
name = "{region}"
backend = "slurm"
partition = "{partition}"
scratch = "{scratch}"
shared = "{shared}"
{keys}

[regions.machines]
"*" = "--cpus-per-task=1 --mem-per-cpu=200"
"""


@pytest.fixture
def serve_region(
    slurm: SlurmCluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> ServeRegion:
    """Starts a service whose REGION is on Slurm, with more ``keys`` of its table, and settings."""

    @contextmanager
    def serve(keys: str, **settings: object) -> Iterator[Context]:
        monkeypatch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
        data = tmp_path / "data"
        data.mkdir()
        text = SETTINGS.format(
            region=REGION,
            partition=PARTITION,
            scratch=tmp_path / "scratch",
            shared=CACHE.parent,
            keys=keys,
        )
        (data / "footplate.toml").write_text(text)
        with running_service(data, CACHE, stop_grace_s=1, **settings) as service:
            yield Context(service)
            slurm.cancel_all()

    return serve


@pytest.fixture
def urgent(slurm: SlurmCluster) -> Iterator[str]:
    """A partition whose jobs preempt those of the others."""
    with_tier = (f"PartitionName={URGENT}", "Nodes=ALL", "PriorityTier=10")
    slurm.command("scontrol", "create", *with_tier)
    yield URGENT
    slurm.cancel_all()
    slurm.command("scontrol", "delete", f"PartitionName={URGENT}")
