"""Which pools run reduction servers, and what each replica of their job is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain import reduction
from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.jobs import Address, JobSpec, MachineSpec, PythonProgram, WorkerPool

RUNTIMES = load_catalogue().runtimes
PREBUILT = "us-docker.pkg.dev/vertex-ai/training"
REDUCER = reduction.program(reduction.IMAGE)


def spec(image: str = "pytorch-cpu.2-13.py311", reducers: int = 2) -> JobSpec:
    trainer = PythonProgram(f"image:{PREBUILT}/{image}:latest", (), "trainer.task")
    counts = {0: 1, 1: 2, 2: reducers, 3: 1}
    machine = MachineSpec("n1-standard-4")
    pools = tuple(
        WorkerPool(
            f"workerpool{index}",
            f"workerpool{index}",
            machine,
            count,
            REDUCER if index == reduction.POOL else trainer,
            field=f"pools[{index}].pythonPackageSpec",
        )
        for index, count in counts.items()
    )
    return JobSpec("us-central1", pools)


@pytest.mark.parametrize(
    ("uri", "reduces"),
    [
        ("us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest", True),
        ("europe-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest", True),
        ("asia-docker.pkg.dev/vertex-ai-restricted/training/reductionserver", True),
        ("footplate/reductionserver", True),
        ("footplate/reductionserver:0.1", True),
        ("gcr.io/me/reductionserver:latest", False),
        ("footplate/reductionserver-of-mine", False),
        ("", False),
    ],
)
def test_images(uri: str, reduces: bool) -> None:  # noqa: FBT001
    assert reduction.is_image(uri) == reduces


def test_its_runtime_is_in_the_catalogue() -> None:
    assert RUNTIMES.resolve(REDUCER.runtime, "pool").cpu
    assert role_of(spec().pools[2]) is ClusterRole.REDUCER


def test_each_replica_is_told_its_own() -> None:
    job = spec()
    addresses = {name: Address(f"h-{name}", 2222) for name in job.replica_names()}

    told = {
        name: reduction.variables(job, name, addresses, "attempt", "token", RUNTIMES)
        for name in job.replica_names()
    }

    common = {"FOOTPLATE_REDUCTION_JOB": "attempt", "FOOTPLATE_REDUCTION_TOKEN": "token"}
    worker = {**common, "FOOTPLATE_REDUCERS": "h-workerpool2-0:2222,h-workerpool2-1:2222"}
    assert told.pop("workerpool0-0") == worker
    assert told.pop("workerpool1-1") == worker
    assert told.pop("workerpool2-1") == {
        **common,
        "FOOTPLATE_REDUCTION_HOST": "h-workerpool2-1",
        "FOOTPLATE_REDUCTION_PORT": "2222",
        "FOOTPLATE_REDUCTION_STATS": "reduction.json",
    }
    assert told.pop("workerpool3-0") == {}


def test_jobs_without_reducers_are_told_nothing() -> None:
    job = spec(reducers=0)
    addresses = {name: Address("h", 2222) for name in job.replica_names()}

    assert not any(
        reduction.variables(job, name, addresses, "attempt", "token", RUNTIMES)
        for name in job.replica_names()
    )


OLD = "pytorch-cpu.1-11.py37"


@pytest.mark.parametrize(
    ("job", "served"),
    [
        (spec(), True),
        (spec("unknown"), True),
        (spec(OLD), False),
        (spec("tf-cpu.2-3.py37"), False),
        (spec(reducers=0), False),
        (spec(OLD, reducers=0), False),
    ],
)
def test_reduction_servers_serve_python_3_8_and_later(job: JobSpec, served: bool) -> None:  # noqa: FBT001
    assert reduction.is_served(job, RUNTIMES) == served


def test_one_old_pool_leaves_all_workers_without_reduction_servers() -> None:
    """Those of a group that know of no reduction servers would stop all the others."""
    old, new = spec(OLD), spec()
    job = replace(new, pools=(new.pools[0], old.pools[1], *new.pools[2:]))
    addresses = {name: Address("h", 2222) for name in job.replica_names()}

    told = {
        name: reduction.variables(job, name, addresses, "attempt", "token", RUNTIMES)
        for name in job.replica_names()
    }

    assert not reduction.is_served(job, RUNTIMES)
    assert told["workerpool0-0"] == told["workerpool1-0"] == {}
    assert told["workerpool2-0"]["FOOTPLATE_REDUCTION_PORT"] == "2222"
