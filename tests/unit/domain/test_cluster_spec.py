"""TF_CONFIG and CLUSTER_SPEC, value by value."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from footplate.domain.cluster_spec import variables
from footplate.domain.jobs import Address, ClusterVariable, JobSpec, WorkerPool
from tests.support.jobs import PROGRAM, make_custom_name, make_spec

BOTH = frozenset(ClusterVariable)


def make_addresses(spec: JobSpec) -> dict[str, Address]:
    """As on one machine: each replica has ports of its own."""
    return {
        name: Address("127.0.0.1", 2222 + number, (3333 + number, 4444 + number))
        for number, name in enumerate(spec.replica_names())
    }


def with_pools(spec: JobSpec, **counts: int) -> JobSpec:
    """More pools, by role; 0 is one that a job has and doesn't use."""
    machine = spec.primary.machine
    suffix = "" if spec.primary.cluster_role == "workerpool0" else "-replica"
    more = (
        WorkerPool(role, f"{role}{suffix}", machine, count, PROGRAM)
        for role, count in counts.items()
    )
    return replace(spec, pools=(spec.primary, *more))


def told(spec: JobSpec, replica: str, variable: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(
        variables(spec, replica, make_addresses(spec), "c1")[variable]
    )
    return made


def test_tf_config_of_a_master_and_a_worker() -> None:
    spec = replace(make_spec(workers=1), chief_role="chief", cluster_job='{"scaleTier": "CUSTOM"}')

    made = variables(spec, "master-replica-0", make_addresses(spec), "c1")

    assert json.loads(made["TF_CONFIG"]) == {
        "cluster": {"chief": ["127.0.0.1:2222"], "worker": ["127.0.0.1:2223"]},
        "environment": "cloud",
        "job": {"scaleTier": "CUSTOM"},
        "task": {"type": "chief", "index": 0, "cloud": "c1"},
    }
    assert "CLUSTER_SPEC" not in made


@pytest.mark.parametrize(
    ("chief_role", "task_type", "cluster"),
    [("chief", "worker", {}), ("master", "master", {"master": ["127.0.0.1:2222"]})],
)
def test_a_lone_replica_has_no_task_or_a_complete_one(
    chief_role: str, task_type: str, cluster: dict[str, list[str]]
) -> None:
    """TensorFlow's own rule: no task type but ``worker`` without a cluster."""
    spec = replace(make_spec(), trial="7", cluster_variables=BOTH, chief_role=chief_role)

    assert told(spec, "master-replica-0", "TF_CONFIG") == {
        "cluster": cluster,
        "environment": "cloud",
        "job": {},
        "task": {"type": task_type, "index": 0, "trial": "7", "cloud": "c1"},
    }
    alone = told(replace(spec, trial=None), "master-replica-0", "TF_CONFIG")
    assert alone["task"] == {}, "trainers take an empty one for none"
    assert alone["cluster"] == {}
    assert told(spec, "master-replica-0", "CLUSTER_SPEC")["task"] == {
        "type": "master",
        "index": 0,
        "trial": "7",
    }


def test_cluster_spec_of_a_custom_job() -> None:
    spec = replace(make_spec(make_custom_name(), workers=2), cluster_job='{"network": "n"}')

    assert told(spec, "workerpool1-1", "CLUSTER_SPEC") == {
        "cluster": {
            "workerpool0": ["127.0.0.1:2222"],
            "workerpool1": ["127.0.0.1:2223", "127.0.0.1:2224"],
        },
        "environment": "cloud",
        "task": {"type": "workerpool1", "index": 1},
        "job": {"network": "n"},
        "open_ports": [3333, 4444],
    }


def test_the_keys_come_in_the_order_that_is_documented() -> None:
    spec = replace(make_spec(make_custom_name(), workers=1), trial="1")

    spelled = told(spec, "workerpool1-0", "CLUSTER_SPEC")
    config = told(spec, "workerpool1-0", "TF_CONFIG")

    assert list(spelled) == ["cluster", "environment", "task", "job", "open_ports"]
    assert list(config) == ["cluster", "environment", "job", "task"]
    assert config["task"] == {"type": "worker", "index": 0, "trial": "1", "cloud": "c1"}
    assert spelled["task"] == {"type": "workerpool1", "index": 0, "trial": "1"}


def test_tensorflow_hears_of_roles_where_pools_have_numbers() -> None:
    spec = with_pools(make_spec(make_custom_name()), workerpool1=2, workerpool2=1, workerpool3=1)

    config = told(spec, "workerpool2-0", "TF_CONFIG")

    assert config["cluster"] == {
        "chief": ["127.0.0.1:2222"],
        "worker": ["127.0.0.1:2223", "127.0.0.1:2224"],
        "ps": ["127.0.0.1:2225"],
    }
    assert config["task"] == {"type": "ps", "index": 0, "cloud": "c1"}


@pytest.mark.parametrize(
    ("spec", "replica", "role"),
    [
        (with_pools(make_spec(), worker=1, evaluator=1), "evaluator-replica-0", "evaluator"),
        (
            with_pools(make_spec(make_custom_name()), workerpool1=1, workerpool3=1),
            "workerpool3-0",
            "workerpool3",
        ),
    ],
    ids=["ml", "vertex"],
)
def test_an_evaluator_is_in_cluster_spec_and_outside_of_tensorflows_cluster(
    spec: JobSpec, replica: str, role: str
) -> None:
    spec = replace(spec, cluster_variables=BOTH)

    config = told(spec, replica, "TF_CONFIG")
    spelled = told(spec, replica, "CLUSTER_SPEC")

    assert config["task"] == {"type": "evaluator", "index": 0, "cloud": "c1"}
    assert config["cluster"] == {
        spec.chief_role: ["127.0.0.1:2222"],
        "worker": ["127.0.0.1:2223"],
    }
    assert spelled["task"] == {"type": role, "index": 0}
    assert spelled["cluster"] == {
        spec.primary.cluster_role: ["127.0.0.1:2222"],
        spec.pools[1].cluster_role: ["127.0.0.1:2223"],
        role: ["127.0.0.1:2224"],
    }


def test_cluster_spec_says_master_whatever_tf_config_says() -> None:
    spec = replace(make_spec(workers=1), chief_role="chief", cluster_variables=BOTH)

    assert told(spec, "master-replica-0", "CLUSTER_SPEC")["task"] == {"type": "master", "index": 0}
    assert list(told(spec, "master-replica-0", "TF_CONFIG")["cluster"]) == ["chief", "worker"]


def test_pools_without_replicas_are_left_out_and_the_others_keep_their_numbers() -> None:
    spec = with_pools(make_spec(make_custom_name()), workerpool1=0, workerpool2=1)

    assert told(spec, "workerpool2-0", "CLUSTER_SPEC")["cluster"] == {
        "workerpool0": ["127.0.0.1:2222"],
        "workerpool2": ["127.0.0.1:2223"],
    }
    assert told(spec, "workerpool2-0", "TF_CONFIG")["cluster"] == {
        "chief": ["127.0.0.1:2222"],
        "ps": ["127.0.0.1:2223"],
    }


def test_nothing_is_described_that_the_job_does_not_want() -> None:
    spec = replace(make_spec(), cluster_variables=frozenset())

    assert variables(spec, "master-replica-0", make_addresses(spec), "c1") == {}


def test_a_search_that_is_too_long_for_a_variable_is_left_out() -> None:
    search = {"params": [{"categoricalValues": ["v" * 140] * 1000}]}
    job = json.dumps({"args": ["-v"], "hyperparameters": search})
    spec = replace(make_spec(), cluster_job=job)
    assert told(spec, "master-replica-0", "TF_CONFIG")["job"] == {"args": ["-v"]}
