"""What the engines of regions enforce."""

from __future__ import annotations

import pytest

from footplate.backends.region_bindings import RegionBinding
from footplate.server.engines import describe_limits


@pytest.mark.parametrize(
    ("region", "said"),
    [
        (RegionBinding("europe-west4", "slurm"), "as far as its TaskPlugin and cgroup.conf say"),
        (RegionBinding("europe-west4", "ray"), "none: Ray enforces nothing"),
        (RegionBinding("europe-west4", "kubernetes"), "CPUs, memory and GPUs by Kubernetes"),
        (RegionBinding("europe-west4", "kubernetes", reserve=False), "aren't reserved"),
    ],
)
def test_each_engine_says_what_it_limits(region: RegionBinding, said: str) -> None:
    assert said in describe_limits(region)
