"""What is said of jobs with reduction servers."""

from __future__ import annotations

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.jobs import JobSpec, MachineSpec, Program, PythonProgram, WorkerPool
from footplate.domain.preview.advice import advise
from footplate.domain.reduction import IMAGE, program

CATALOGUE = load_catalogue()
PREBUILT = "us-docker.pkg.dev/vertex-ai/training"
TORCH = PythonProgram(f"image:{PREBUILT}/pytorch-gpu.2-13.py311:latest", (), "trainer.task")
KERAS = PythonProgram(f"image:{PREBUILT}/tf-gpu.2-21.py311:latest", (), "trainer.task")
BUCKETS = "bucket_cap_mb=64"
EIGHT_V100 = MachineSpec("n1-highmem-96", "NVIDIA_TESLA_V100", 8)
"""With 100 Gbps."""


def pool(index: int, machine: MachineSpec, count: int, runs: Program) -> WorkerPool:
    return WorkerPool(f"workerpool{index}", f"workerpool{index}", machine, count, runs)


def advice(
    machine: str,
    count: int,
    *,
    others: int = 4,
    runs: Program = TORCH,
    worker: MachineSpec | None = None,
) -> list[str]:
    """All but that on buckets, of ``others`` and one workers, and ``count`` reducers."""
    worker = worker or EIGHT_V100
    pools = (
        pool(0, worker, 1, runs),
        pool(1, worker, others, runs),
        pool(2, MachineSpec(machine), count, program(IMAGE)),
    )
    *said, buckets = advise(JobSpec("us-central1", pools), CATALOGUE)
    assert BUCKETS in buckets
    return said


def test_they_match_the_workers_bandwidth() -> None:
    """The documentation's own example: 5 x 100 Gbps / 32 Gbps = 16."""
    assert advice("n1-highcpu-16", 16) == []
    assert advice("n1-highcpu-16", 20) == []
    assert advice("n1-highcpu-16", 15) == [
        (
            "15 x n1-highcpu-16 take 480 Gbps and the workers send 500 Gbps: "
            "16 reduction servers would match"
        )
    ]


@pytest.mark.parametrize(("count", "slower"), [(10, False), (9, True)])
def test_too_few_of_them_are_slower_than_a_ring(count: int, slower: bool) -> None:  # noqa: FBT001
    """Its break-even is at n/(2(n-1)) of what matches: 5/8 of 500 Gbps, 9.8 of 32 Gbps."""
    (said,) = advice("n1-highcpu-16", count)

    assert said.endswith("fewer than 10 are slower than a ring") == slower


def test_where_bandwidths_are_not_known_machines_count() -> None:
    unknown = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)
    (said,) = advice("n1-highcpu-16", 2, worker=unknown)
    assert said == (
        "2 reduction servers for 5 workers are slower than a ring if all machines have the same "
        "bandwidth: 4 gain something, 5 would match"
    )
    assert advice("n1-highcpu-16", 4, worker=unknown) == []


def test_few_workers_need_none() -> None:
    assert advice("n1-highcpu-16", 16, others=0) == [
        "1 worker has nobody to reduce with: its reduction servers would stand idle"
    ]
    assert advice("n1-highcpu-16", 16, others=1) == [
        "with 2 workers a ring is as fast as reduction servers, and needs none"
    ]


def test_small_machines() -> None:
    assert "want an n1 or n2 machine of at least 16 vCPUs" in advice("n1-standard-4", 1)[0]


def test_gpus_of_theirs_stand_idle() -> None:
    reducer = pool(2, MachineSpec("n1-standard-16", "NVIDIA_TESLA_T4", 1), 1, program(IMAGE))
    pools = (pool(0, EIGHT_V100, 1, TORCH), pool(1, EIGHT_V100, 1, TORCH), reducer)

    said = advise(JobSpec("us-central1", pools), CATALOGUE)

    (idle,) = [sentence for sentence in said if "NVIDIA_TESLA_T4" in sentence]
    assert idle.startswith("workerpool2's 1 NVIDIA_TESLA_T4 would stand idle: reduction servers")


def test_they_serve_pytorch() -> None:
    said = advice("n1-highcpu-16", 16, runs=KERAS)

    assert len(said) == 2
    assert said[0].startswith("workerpool0: reduction servers serve PyTorch programs")
    assert said[1].startswith("workerpool1: ")
