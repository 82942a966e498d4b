"""What is said of jobs with reduction servers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.jobs import (
    ContainerProgram,
    JobSpec,
    MachineSpec,
    Program,
    PythonProgram,
    WorkerPool,
)
from footplate.domain.preview.advice import advise
from footplate.domain.preview.plan import plan
from footplate.domain.reduction import IMAGE, program
from footplate.domain.sites import Mode, Site

CATALOGUE = load_catalogue()
PREBUILT = "us-docker.pkg.dev/vertex-ai/training"
TORCH = PythonProgram(f"image:{PREBUILT}/pytorch-gpu.2-13.py311:latest", (), "trainer.task")
BOTH = "workerpool0 and workerpool1"
BUCKETS, FUSION = "bucket_cap_mb=64", "HOROVOD_FUSION_THRESHOLD=134217728 (128 MB)"
EIGHT_V100 = MachineSpec("n1-highmem-96", "NVIDIA_TESLA_V100", 8)
A2_MEGAGPU = MachineSpec("a2-megagpu-16g", "NVIDIA_TESLA_A100", 16)
"""With 100 Gbps, as the former."""
SITE = Site("cluster", Mode.ENFORCE, replicas=1000, vcpus=4096, memory_mb=40_000_000)


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
    """All but that on message sizes, of ``others`` and one workers, and ``count`` reducers."""
    worker = worker or EIGHT_V100
    pools = (
        pool(0, worker, 1, runs),
        pool(1, worker, others, runs),
        pool(2, MachineSpec(machine), count, program(IMAGE)),
    )
    *said, buckets, fusion = advise(JobSpec("us-central1", pools), CATALOGUE)
    assert BUCKETS in buckets
    assert FUSION in fusion
    return said


def test_they_match_the_workers_bandwidth() -> None:
    """The documentation's own example: 5 x 100 Gbps / 32 Gbps = 16."""
    assert advice("n1-highcpu-16", 16) == []
    assert advice("n1-highcpu-16", 20) == []
    assert advice("n1-highcpu-16", 15) == [
        (
            "15 x n1-highcpu-16 receive 480 Gbps, but the workers send 500 Gbps: "
            "16 reduction servers would match"
        )
    ]


@pytest.mark.parametrize(("count", "slower"), [(10, False), (9, True)])
def test_too_few_of_them_are_slower_than_a_ring(count: int, slower: bool) -> None:  # noqa: FBT001
    """Its break-even is at n/(2(n-1)) of what matches: 5/8 of 500 Gbps, 9.8 of 32 Gbps."""
    (said,) = advice("n1-highcpu-16", count)

    assert said.endswith("fewer than 10 are slower than a ring of workers") == slower


def test_where_bandwidths_are_not_known_machines_count() -> None:
    unknown = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)
    (said,) = advice("n1-highcpu-16", 2, worker=unknown)
    assert said == (
        "2 reduction servers for 5 workers are slower than a ring if all machines "
        "have the same bandwidth: 4 are faster than a ring, 5 are fastest"
    )
    assert advice("n1-highcpu-16", 4, worker=unknown) == []


def test_few_workers_need_none() -> None:
    assert advice("n1-highcpu-16", 16, others=0) == [
        "a single worker has no other to reduce with: the reduction servers would stand idle"
    ]
    assert advice("n1-highcpu-16", 16, others=1) == [
        "2 workers all-reduce as fast in a ring, without reduction servers"
    ]


def test_small_machines() -> None:
    assert "need an n1 or n2 machine of at least 16 vCPUs" in advice("n1-standard-4", 1)[0]
    assert advice("n2-highcpu-16", 16) == []


def test_gpus_of_theirs_stand_idle() -> None:
    reducer = pool(2, MachineSpec("n1-standard-16", "NVIDIA_TESLA_T4", 1), 1, program(IMAGE))
    pools = (pool(0, EIGHT_V100, 1, TORCH), pool(1, EIGHT_V100, 1, TORCH), reducer)

    said = advise(JobSpec("us-central1", pools), CATALOGUE)

    (idle,) = [sentence for sentence in said if "NVIDIA_TESLA_T4" in sentence]
    assert idle == (
        "workerpool2's 1 NVIDIA_TESLA_T4 would stand idle, because reduction servers don't use GPUs"
    )


INSTEAD = (
    "the replicas all-reduce among themselves, with the same result, and the reduction "
    "servers stand idle"
)


NO_PYTORCH = (
    "{both}: reduction servers work only with PyTorch here, which {image}:latest doesn't have: "
    "unless the program calls footplate_reduction itself, {instead}"
)
OLD_PYTHON = (
    "{both}: {image}:latest has Python 3.7, and reduction servers need Python 3.8 or later: "
    "{instead}. Programs of {image}:latest can't import footplate_reduction"
)


@pytest.mark.parametrize(
    ("image", "sentence"),
    [
        ("tf-gpu.2-21.py311", NO_PYTORCH),
        ("xgboost-cpu.3-2.py311", NO_PYTORCH),
        ("pytorch-gpu.1-4.py37", OLD_PYTHON),
        ("pytorch-gpu.1-11.py37", OLD_PYTHON),
        ("tf-gpu.2-3.py37", OLD_PYTHON),
    ],
)
def test_they_serve_pytorch_of_images_whose_python_is_new_enough(image: str, sentence: str) -> None:
    program = PythonProgram(f"image:{PREBUILT}/{image}:latest", (), "trainer.task")

    said = advice("n1-highcpu-16", 16, runs=program)

    (told,) = (each for each in said if "footplate_reduction" in each)
    assert told == sentence.format(both=BOTH, image=image, instead=INSTEAD)


def test_a_container_brings_the_package_itself() -> None:
    said = advice("n1-highcpu-16", 16, runs=ContainerProgram("gcr.io/me/trainer"))

    (told,) = (sentence for sentence in said if "footplate-reduction" in sentence)
    assert told.startswith(f"{BOTH}: the image needs the package footplate-reduction")
    assert told.endswith(INSTEAD)


@pytest.mark.parametrize(
    ("value", "too_low"),
    [("67108864", True), ("0", True), ("134217728", False), ("1" * 5000, False), ("$(X)", False)],
)
def test_the_threshold_of_horovod(value: str, too_low: bool) -> None:  # noqa: FBT001
    variable = (("HOROVOD_FUSION_THRESHOLD", value),)
    worker = replace(pool(1, EIGHT_V100, 4, TORCH), environment=variable)
    reducers = pool(2, MachineSpec("n1-highcpu-16"), 16, program(IMAGE))
    pools = (pool(0, EIGHT_V100, 1, TORCH), worker, reducers)

    *said, last = advise(JobSpec("us-central1", pools), CATALOGUE)

    assert last == (
        "Horovod all-reduces without reduction servers here, which stand idle; Google's "
        "reduction servers work with Horovod"
    )
    wrong = (
        f"workerpool1: HOROVOD_FUSION_THRESHOLD is {value}; with reduction servers at least "
        "134217728 (128 MB) is recommended"
    )
    assert (wrong in said) == too_low


@pytest.mark.parametrize(
    ("machine", "workers", "reducers", "said"),
    [
        (EIGHT_V100, 5, 16, "500 Gbps in all, and the reduction servers receive 512 Gbps"),
        (A2_MEGAGPU, 8, 25, "800 Gbps in all, and the reduction servers receive 800 Gbps"),
    ],
)
def test_the_plan_says_the_bandwidths_of_the_documentations_examples(
    machine: MachineSpec, workers: int, reducers: int, said: str
) -> None:
    """ "(8 worker VMs * 100 Gbps) / 32 Gbps egress = 25 reducer VMs": one fewer is said."""
    pools = (
        pool(0, machine, 1, TORCH),
        pool(1, machine, workers - 1, TORCH),
        pool(2, MachineSpec("n1-highcpu-16"), reducers, program(IMAGE)),
    )

    assert plan(JobSpec("us-central1", pools), CATALOGUE, SITE).steps[-1] == (
        f"By the machine types the workers send at most {said}."
    )
    assert advice("n1-highcpu-16", reducers, others=workers - 1, worker=machine) == []
    (too_few,) = advice("n1-highcpu-16", reducers - 1, others=workers - 1, worker=machine)
    assert f": {reducers} reduction servers would match" in too_few


def test_the_plan_says_nothing_of_bandwidths_that_are_not_known() -> None:
    unknown = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8)
    pools = (
        pool(0, unknown, 1, TORCH),
        pool(2, MachineSpec("n1-highcpu-16"), 1, program(IMAGE)),
    )

    steps = plan(JobSpec("us-central1", pools), CATALOGUE, SITE).steps

    assert not any("Gbps" in step for step in steps)
