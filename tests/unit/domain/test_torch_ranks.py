"""What PyTorch is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.jobs import Address, JobSpec, WorkerPool
from footplate.domain.program_arguments import torch_variables
from tests.support.jobs import PROGRAM, make_custom_name, make_spec


def told(spec: JobSpec, replica: str) -> dict[str, str]:
    names = spec.replica_names()
    return torch_variables(spec, replica, {n: Address(f"host-{n}", 2222) for n in names})


def with_pool(spec: JobSpec, role: str) -> JobSpec:
    pool = WorkerPool(role, role, spec.primary.machine, 2, PROGRAM)
    return replace(spec, pools=(*spec.pools, pool))


@pytest.mark.parametrize(
    ("spec", "primary", "last"),
    [
        (make_spec(workers=2), "master-replica-0", "worker-replica-1"),
        (make_spec(make_custom_name(), workers=2), "workerpool0-0", "workerpool1-1"),
    ],
    ids=["ml", "vertex"],
)
def test_the_primary_is_rank_0_and_the_workers_follow(
    spec: JobSpec, primary: str, last: str
) -> None:
    meeting = {"MASTER_ADDR": f"host-{primary}", "MASTER_PORT": "2222", "WORLD_SIZE": "3"}
    assert told(spec, primary) == {**meeting, "RANK": "0"}
    assert told(spec, last) == {**meeting, "RANK": "2"}


def test_they_meet_at_the_primarys_own_port() -> None:
    spec = make_spec(workers=1)
    addresses = {
        "master-replica-0": Address("127.0.0.1", 5001, (6001,)),
        "worker-replica-0": Address("127.0.0.1", 5002, (6002,)),
    }
    assert torch_variables(spec, "worker-replica-0", addresses)["MASTER_PORT"] == "5001"


@pytest.mark.parametrize(
    ("spec", "role"),
    [
        (make_spec(workers=1), "ps"),
        (make_spec(workers=1), "evaluator"),
        (make_spec(make_custom_name(), workers=1), "workerpool2"),
        (make_spec(make_custom_name(), workers=1), "workerpool3"),
    ],
)
def test_others_have_no_rank_and_do_not_count(spec: JobSpec, role: str) -> None:
    spec = with_pool(spec, role)

    assert told(spec, f"{role}-0") == {}
    assert told(spec, spec.replica_names()[0])["WORLD_SIZE"] == "2"


@pytest.mark.parametrize("spec", [make_spec(), with_pool(make_spec(), "ps")])
def test_a_primary_without_workers_has_no_rank(spec: JobSpec) -> None:
    assert told(spec, "master-replica-0") == {}
