"""What Google's Reduction Server asks for of workers, by its page's prerequisites."""

from __future__ import annotations

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
from footplate.domain.names import TrainingJobName
from footplate.domain.preview.parity import parity_of, reducer_doubts
from footplate.domain.reduction import IMAGE, program
from footplate.domain.submission import Submission

CATALOGUE = load_catalogue()
PREBUILT = "us-docker.pkg.dev/vertex-ai/training"
WITH_GPU = MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 1)
PLAIN = MachineSpec("n1-standard-4")


def image(name: str) -> PythonProgram:
    return PythonProgram(f"image:{PREBUILT}/{name}:latest", (), "trainer.task")


def job(runs: Program, machine: MachineSpec = WITH_GPU, reducers: int = 2) -> JobSpec:
    servers = program(IMAGE)
    pools = (
        WorkerPool("workerpool0", "workerpool0", machine, 1, runs),
        WorkerPool("workerpool1", "workerpool1", machine, 0, runs),
        WorkerPool("workerpool2", "workerpool2", MachineSpec("n1-highcpu-16"), reducers, servers),
    )
    return JobSpec("us-central1", pools)


def doubts(spec: JobSpec) -> list[str]:
    return list(reducer_doubts(spec.pools, CATALOGUE))


@pytest.mark.parametrize(
    "name", ["tf-gpu.2-3", "tf-gpu.2-11.py310", "pytorch-gpu.1-4.py37", "pytorch-gpu.2-4.py310"]
)
def test_gpu_images_from_tensorflow_2_3_and_pytorch_1_4_on(name: str) -> None:
    assert doubts(job(image(name))) == []


@pytest.mark.parametrize(
    "name",
    ["tf-gpu.2-2", "tf-gpu.1-15", "tf-cpu.2-11.py310", "pytorch-cpu.1-13", "xgboost-cpu.1-1"],
)
def test_images_without_its_nccl(name: str) -> None:
    (said,) = doubts(job(image(name)))

    assert said == (
        "workerpool0: Google's Reduction Server requires NCCL, which prebuilt GPU images of "
        f"TensorFlow 2.3, PyTorch 1.4 and later have, and {name}:latest is none of these"
    )


def test_cpu_workers() -> None:
    (said,) = doubts(job(image("pytorch-gpu.1-13"), PLAIN))

    assert said == (
        "workerpool0: Google's Reduction Server requires workers with GPUs that all-reduce by NCCL"
    )
    assert doubts(job(image("pytorch-gpu.1-13"), MachineSpec("standard_gpu"))) == []


def test_containers_need_its_package() -> None:
    (said,) = doubts(job(ContainerProgram("gcr.io/me/trainer")))

    assert "NCCL 2.7 or later and the package google-reduction-server" in said
    assert doubts(job(ContainerProgram(f"{PREBUILT}/tf-gpu.2-11:latest"))) == []


def test_jobs_without_reduction_servers() -> None:
    assert doubts(job(image("xgboost-cpu.1-1"), PLAIN, reducers=0)) == []


def test_it_makes_the_verdict_uncertain() -> None:
    submission = Submission(TrainingJobName("demo", "j"), "", job(image("tf-cpu.2-11")), "{}")

    parity = parity_of(submission, CATALOGUE)

    assert parity.accepted is None
    assert any("requires NCCL" in reason for reason in parity.reasons)
