"""What a valid job would better do otherwise, and nothing about jobs that are fine."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given

from footplate.catalogue import load_catalogue
from footplate.domain.jobs import (
    ClusterVariable,
    ContainerProgram,
    JobSpec,
    MachineSpec,
    Program,
    PythonProgram,
    WorkerPool,
)
from footplate.domain.preview.advice import advise, shortcomings
from footplate.domain.sites import Gpu, Mode, Site
from footplate.domain.submission import Tuning
from tests.support import strategies

CATALOGUE = load_catalogue()
CLUSTER = Site("cluster", Mode.ENFORCE, replicas=1000, vcpus=512, memory_mb=4_000_000)
T4 = "NVIDIA_TESLA_T4"
PROGRAM = PythonProgram("version:2.21/", (), "trainer.task")
WITH_T4 = MachineSpec("n1-standard-8", T4, 1)
PLAIN = MachineSpec("n1-standard-4")
PREBUILT = "us-docker.pkg.dev/vertex-ai/training"


def pool(role: str, machine: MachineSpec, count: int = 1, program: Program = PROGRAM) -> WorkerPool:
    return WorkerPool(role, role, machine, count, program)


def job(*pools: WorkerPool) -> JobSpec:
    return JobSpec("us-central1", pools)


@pytest.mark.parametrize(
    "spec",
    [
        job(pool("master", PLAIN)),
        job(pool("master", WITH_T4), pool("worker", WITH_T4, 9), pool("ps", PLAIN, 3)),
        job(pool("master", MachineSpec("standard_gpu")), pool("evaluator", PLAIN)),
        job(pool("master", PLAIN), pool("ps", WITH_T4, 0)),
        job(),
        job(pool("master", MachineSpec("unknown", "UNKNOWN", 3))),
    ],
)
def test_nothing_to_say(spec: JobSpec) -> None:
    assert advise(spec, CATALOGUE) == ()


def test_few_trials() -> None:
    spec = job(pool("master", PLAIN))

    assert advise(spec, CATALOGUE, Tuning(3, 30)) == ()
    assert advise(spec, CATALOGUE, Tuning(1, 9)) == (
        (
            "9 trials are few for 1 parameter: at least 10 for each are recommended, 10 in all; "
            "with fewer the search may miss the best values"
        ),
    )
    assert "29 trials are few for 3 parameters" in advise(spec, CATALOGUE, Tuning(3, 29))[0]
    assert advise(spec, CATALOGUE, Tuning(2, 1))[0].startswith("1 trial is few for 2 parameters")
    assert advise(spec, CATALOGUE, Tuning(1, 4, earlier_trials=6)) == ()
    assert advise(spec, CATALOGUE, Tuning(1, 3, earlier_trials=6))[0].startswith(
        "3 new and 6 earlier trials are few for 1 parameter"
    )


@pytest.mark.parametrize(
    ("role", "machine", "said"),
    [
        ("ps", WITH_T4, "ps's 1 NVIDIA_TESLA_T4 would likely stand idle"),
        ("workerpool2", WITH_T4, "idle, because parameter servers seldom compute on GPUs"),
        ("ps", MachineSpec("complex_model_m_gpu"), "ps's 4 NVIDIA_TESLA_K80"),
        ("evaluator", WITH_T4, "would stand idle except while the evaluator evaluates"),
        ("workerpool3", WITH_T4, "would stand idle except while"),
    ],
)
def test_gpus_of_replicas_that_do_not_train(role: str, machine: MachineSpec, said: str) -> None:
    (advice,) = advise(job(pool("master", WITH_T4), pool(role, machine)), CATALOGUE)

    assert said in advice


@pytest.mark.parametrize(
    "program",
    [
        PythonProgram(f"image:{PREBUILT}/sklearn-cpu.1-9.py311:latest", (), "m"),
        PythonProgram(f"image:{PREBUILT}/tf-cpu.2-21.py311:latest", (), "m"),
        ContainerProgram(f"{PREBUILT}/tf-cpu.2-11.py310:latest"),
        ContainerProgram("gcr.io/cloud-aiplatform/training/pytorch-cpu.1-13:latest"),
    ],
)
def test_a_gpu_for_what_has_no_gpu_support(program: Program) -> None:
    (advice,) = advise(job(pool("master", WITH_T4, program=program)), CATALOGUE)

    assert "would stand idle" in advice
    assert "has no GPU support" in advice


@pytest.mark.parametrize(
    ("version", "cuda"), [("1.15", "10.0"), ("2.3", "10.1"), ("2.4", "11.0"), ("2.13", "11.8")]
)
def test_a_gpu_for_what_needs_the_machines_cuda(version: str, cuda: str) -> None:
    program = PythonProgram(f"version:{version}/", (), "m")
    (advice,) = advise(job(pool("master", WITH_T4, program=program)), CATALOGUE)

    assert f"would stand idle unless the machine has CUDA {cuda} with cuDNN" in advice
    bringing = PythonProgram("version:2.14/", (), "m")
    assert advise(job(pool("master", WITH_T4, program=bringing)), CATALOGUE) == ()


def test_an_image_for_gpus_without_one() -> None:
    program = PythonProgram(f"image:{PREBUILT}/tf-gpu.2-21.py311:latest", (), "m")

    (advice,) = advise(job(pool("workerpool0", PLAIN, program=program)), CATALOGUE)

    assert "workerpool0 asks for no GPU, but its image is made for GPUs" in advice


def test_nothing_is_said_of_images_that_nobody_knows() -> None:
    own = ContainerProgram("gcr.io/me/cpu-trainer")
    unknown = PythonProgram("version:9.9/", (), "m")

    assert advise(job(pool("master", WITH_T4, program=own)), CATALOGUE) == ()
    assert advise(job(pool("master", WITH_T4, program=unknown)), CATALOGUE) == ()


def test_an_evaluator_beside_a_master_is_warned_of() -> None:
    """Of TensorFlow before 2.1, and of containers that don't ask for a chief."""
    pools = (pool("master", PLAIN), pool("evaluator", PLAIN))
    assert advise(job(*pools), CATALOGUE) == ()
    (said,) = advise(replace(job(*pools), chief_role="master"), CATALOGUE)
    assert said.startswith("the evaluator would fail: TF_CONFIG has a `master`")
    assert said.endswith("or take runtimeVersion 2.1 or later")
    image = ContainerProgram("gcr.io/p/trainer")
    pools = (pool("master", PLAIN, 1, image), pool("evaluator", PLAIN, 1, image))
    (said,) = advise(replace(job(*pools), chief_role="master"), CATALOGUE)
    assert said.endswith("or set useChiefInTfConfig")


OLD = ("version:2.11/", f"image:{PREBUILT}/tf-cpu.2-6:latest")
BOTH = [PythonProgram(runtime, (), "m") for runtime in OLD]


@pytest.mark.parametrize("program", BOTH)
@pytest.mark.parametrize("role", ["worker", "ps"])
def test_a_chief_without_an_evaluator_is_warned_of(program: PythonProgram, role: str) -> None:
    """Also of a search, whose trials would have no metric."""
    spec = job(pool("master", PLAIN, 1, program), pool(role, PLAIN, 1, program))
    spec = replace(spec, cluster_variables=frozenset({ClusterVariable.TF_CONFIG}))
    assert advise(spec, CATALOGUE) == (
        (
            "if the program calls tf.estimator.train_and_evaluate, no evaluation would take place: "
            "beside a chief only an evaluator evaluates; add an evaluator (evaluatorType, and "
            "evaluatorCount: 1)"
        ),
    )
    assert "no trial would report its metric" in advise(spec, CATALOGUE, Tuning(1, 10))[0]

    evaluator = pool("evaluator", PLAIN, 1, program)
    for other in (
        replace(spec, pools=(*spec.pools, evaluator)),
        replace(spec, pools=spec.pools[:1]),
        replace(spec, chief_role="master"),
        replace(spec, cluster_variables=frozenset()),
    ):
        assert advise(other, CATALOGUE) == ()


@pytest.mark.parametrize("version", ["2.16", "2.21", ""])
def test_where_there_are_no_estimators_nobody_misses_an_evaluator(version: str) -> None:
    program = PythonProgram(f"version:{version}/", (), "m")
    spec = job(pool("workerpool0", PLAIN, 1, program), pool("workerpool1", PLAIN, 1, program))
    spec = replace(spec, cluster_variables=frozenset({ClusterVariable.TF_CONFIG}))
    assert advise(spec, CATALOGUE) == ()


def test_several_evaluators() -> None:
    (advice,) = advise(job(pool("master", PLAIN), pool("evaluator", PLAIN, 2)), CATALOGUE)

    assert advice.startswith("the job has 2 evaluators, and TensorFlow expects one: each")


def test_an_emulating_machine_says_what_it_does_without() -> None:
    laptop = Site("laptop", Mode.EMULATE, replicas=4, vcpus=4, memory_mb=8000)
    workstation = replace(laptop, gpus=(Gpu("GPU-1", T4), Gpu("GPU-2", T4)))
    spec = job(pool("master", WITH_T4), pool("worker", WITH_T4, 9))

    few, gpus = shortcomings(spec, CATALOGUE, laptop)
    assert "10 replicas, and this machine runs 4 at once" in few
    assert gpus == "the job runs without its 10 NVIDIA_TESLA_T4: this machine has none"
    assert "runs with 2 of its 10 NVIDIA_TESLA_T4" in shortcomings(spec, CATALOGUE, workstation)[1]
    assert shortcomings(job(pool("master", WITH_T4)), CATALOGUE, workstation) == ()
    assert shortcomings(spec, CATALOGUE, CLUSTER) == ()


@given(strategies.specs)
def test_whatever_is_asked_for_something_or_nothing_is_said(spec: JobSpec) -> None:
    """Refused jobs hold anything, and millions of replicas of it."""
    assert all(advise(spec, CATALOGUE))
