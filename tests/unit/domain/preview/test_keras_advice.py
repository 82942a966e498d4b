"""What is said of packages that need an earlier TensorFlow, and of none that runs as it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

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
from footplate.domain.preview.keras_advice import advise_packages
from footplate.domain.preview.source_patterns import Pattern, Use

RUNTIMES = load_catalogue().runtimes
PACKAGE = "gs://stage/t.tar.gz"
ML = PythonProgram("version:2.21/", (PACKAGE,), "trainer.task")
IMAGE = "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-17.py310:latest"
VERTEX = PythonProgram(f"image:{IMAGE}", (PACKAGE,), "trainer.task")
PLAIN = MachineSpec("n1-standard-4")
ESTIMATOR = Use(Pattern.ESTIMATOR, "trainer/task.py:7")
STRATEGY = Use(Pattern.STRATEGY, "trainer/task.py:8")
LAYER = Use(Pattern.LONE_LAYER, "trainer/task.py:9")
OLD = Use(Pattern.OLD_TENSORFLOW, "setup.py")


def job(program: Program, role: str = "master") -> JobSpec:
    return JobSpec("us-central1", (WorkerPool(role, role, PLAIN, 1, program),))


def advice(spec: JobSpec, *uses: Use) -> list[str]:
    return list(advise_packages(spec, lambda uri: uses if uri == PACKAGE else (), RUNTIMES))


def test_a_job_of_ai_platform() -> None:
    """It has no variables of its own."""
    assert advice(job(ML), ESTIMATOR, STRATEGY, LAYER) == [
        (
            "trainer/task.py:7 uses tf.estimator, which ended with TensorFlow 2.15, and the "
            "runtime has TensorFlow 2.21: take runtimeVersion 2.15"
        ),
        (
            "trainer/task.py:8 uses MultiWorkerMirroredStrategy, in which Keras 3 of the "
            "runtime's TensorFlow 2.21 can't train. Set os.environ['TF_USE_LEGACY_KERAS'] = '1' "
            "before the first import of TensorFlow, or take runtimeVersion 2.15"
        ),
        (
            "trainer/task.py:9 gives Sequential a single layer, and Keras 3 of the runtime's "
            "TensorFlow 2.21 needs a list. Set os.environ['TF_USE_LEGACY_KERAS'] = '1' before "
            "the first import of TensorFlow, or write Sequential([...])"
        ),
    ]


def test_a_job_of_vertex_ai() -> None:
    spec = job(VERTEX, "workerpool0")
    estimator, strategy = advice(spec, ESTIMATOR, STRATEGY)
    assert estimator.endswith(
        "has TensorFlow 2.17: take the image tf-cpu.2-15.py310 or tf-gpu.2-15.py310"
    )
    assert strategy.endswith(
        "Set TF_USE_LEGACY_KERAS=1 in the job's env, or take the image tf-cpu.2-15.py310 or "
        "tf-gpu.2-15.py310"
    )


def test_a_variable_of_the_job_brings_keras_2_and_no_estimators() -> None:
    spec = job(VERTEX, "workerpool0")
    pool = replace(spec.pools[0], environment=(("TF_USE_LEGACY_KERAS", "1"),))
    (said,) = advice(replace(spec, pools=(pool,)), ESTIMATOR, STRATEGY, LAYER)
    assert "uses tf.estimator" in said


@pytest.mark.parametrize(
    "program",
    [
        replace(ML, runtime="version:1.15/"),
        replace(ML, runtime="version:2.15/"),
        replace(ML, runtime="version:9.99/"),
        replace(ML, runtime="image:us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-13.py311"),
        replace(ML, package_uris=()),
        replace(ML, package_uris=("gs://stage/other.tar.gz",)),
        ContainerProgram(IMAGE, None, None),
    ],
)
def test_nothing_to_say(program: Program) -> None:
    assert advice(job(program), ESTIMATOR, STRATEGY, LAYER) == []


def test_a_package_with_a_tensorflow_of_its_own() -> None:
    """Its Estimator runs, and evaluates unless a chief leaves that to an evaluator."""
    master, worker, evaluator = (
        WorkerPool(role, role, PLAIN, 1, ML) for role in ("master", "worker", "evaluator")
    )
    cluster = JobSpec(
        "us-central1",
        (master, worker),
        cluster_variables=frozenset({ClusterVariable.TF_CONFIG}),
        chief_role="chief",
    )
    assert advice(job(ML), OLD, ESTIMATOR, STRATEGY, LAYER) == []
    assert advice(cluster, OLD, STRATEGY) == []
    assert advice(replace(cluster, pools=(master, worker, evaluator)), OLD, ESTIMATOR) == []
    (said,) = set(advice(cluster, OLD, ESTIMATOR))
    assert said == (
        "trainer/task.py:7 uses tf.estimator, and beside a chief only an evaluator evaluates: "
        "add an evaluator (evaluatorType, and evaluatorCount: 1)"
    )
