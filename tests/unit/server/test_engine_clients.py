"""What the engines of regions enforce."""

from __future__ import annotations

import socket

import pytest

from footplate.backends.region_bindings import RegionBinding
from footplate.server.engine_clients import describe_limits, make_engine


@pytest.mark.parametrize(
    ("region", "said"),
    [
        (RegionBinding("europe-west4", "slurm"), "as Slurm's TaskPlugin and cgroup.conf define"),
        (RegionBinding("europe-west4", "ray"), "none: Ray doesn't limit programs"),
        (RegionBinding("europe-west4", "kubernetes"), "Kubernetes limits CPUs, memory and GPUs"),
        (
            RegionBinding("europe-west4", "kubernetes", reserve=False),
            "doesn't reserve CPUs and memory",
        ),
    ],
)
def test_each_engine_says_what_it_limits(region: RegionBinding, said: str) -> None:
    assert said in describe_limits(region)


def test_a_region_with_slurmrestd_uses_it() -> None:
    with socket.create_server(("127.0.0.1", 0)) as held:
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
    region = RegionBinding("europe-west4", "slurm", slurmrestd=url)
    report = make_engine(region).check()
    assert not report.reachable
    assert f"slurmrestd at {url} can't be reached" in report.problems[0]
