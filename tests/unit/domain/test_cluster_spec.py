from __future__ import annotations

import json
from dataclasses import replace

from footplate.domain.cluster_spec import variables
from footplate.domain.jobs import ClusterVariable, WorkerPool
from footplate.testing.jobs import PROGRAM, make_custom_name, make_spec

ADDRESSES = {
    "master-replica-0": "127.0.0.1:2222",
    "worker-replica-0": "127.0.0.1:2223",
    "evaluator-replica-0": "127.0.0.1:2224",
}


def test_tf_config_of_a_master_and_a_worker() -> None:
    spec = replace(make_spec(workers=1), chief_role="chief", cluster_job='{"scaleTier": "CUSTOM"}')

    made = variables(spec, "master-replica-0", ADDRESSES)

    assert json.loads(made["TF_CONFIG"]) == {
        "cluster": {"chief": ["127.0.0.1:2222"], "worker": ["127.0.0.1:2223"]},
        "environment": "cloud",
        "task": {"type": "chief", "index": 0},
        "job": {"scaleTier": "CUSTOM"},
    }
    assert "CLUSTER_SPEC" not in made


def test_an_evaluator_is_no_member_of_the_cluster() -> None:
    spec = make_spec()
    evaluator = replace(spec.primary, cluster_role="evaluator", replica_prefix="evaluator-replica")
    spec = replace(spec, pools=(spec.primary, evaluator))

    made = json.loads(variables(spec, "evaluator-replica-0", ADDRESSES)["TF_CONFIG"])

    assert made["task"] == {"type": "evaluator", "index": 0}
    assert list(made["cluster"]) == ["master"]


def test_cluster_spec_keeps_every_pools_own_role_and_skips_empty_ones() -> None:
    spec = make_spec(make_custom_name())
    empty = WorkerPool("workerpool1", "workerpool1", spec.primary.machine, 0, PROGRAM)
    spec = replace(
        spec,
        pools=(spec.primary, empty),
        cluster_variables=frozenset({ClusterVariable.CLUSTER_SPEC}),
    )

    made = variables(spec, "workerpool0-0", {"workerpool0-0": "127.0.0.1:2222"})

    assert json.loads(made["CLUSTER_SPEC"])["cluster"] == {"workerpool0": ["127.0.0.1:2222"]}
