"""TF_CONFIG and CLUSTER_SPEC from the request on, key by key, for each API and runtime era.

The keys, and what each holds, are those of the page "Distributed training" (Vertex AI), sections
"Format of CLUSTER_SPEC" and "Format of TF_CONFIG". The addresses are of a network of replicas,
where each has port 2222 of its own host.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from footplate.domain.cluster_spec import variables
from footplate.domain.jobs import Address, JobSpec
from footplate.domain.tuning.trial_spec import run_spec
from footplate.wire.json_text import JsonObject
from tests.unit.wire.training_v1_inputs import CUSTOM, IMAGE
from tests.unit.wire.training_v1_inputs import submission as training
from tests.unit.wire.vertex_v1_bodies import PACKAGE, body, container, pool, submit

Told = dict[str, dict[str, Any]]

ROLES: JsonObject = {
    "workerType": "n1-standard-4",
    "workerCount": "2",
    "parameterServerType": "n1-standard-4",
    "parameterServerCount": "1",
    "evaluatorType": "n1-standard-4",
    "evaluatorCount": "1",
}
TASKS = [
    ("worker", 0, "worker-replica-0"),
    ("worker", 1, "worker-replica-1"),
    ("ps", 0, "ps-replica-0"),
    ("evaluator", 0, "evaluator-replica-0"),
]
KEYS = {"cluster", "environment", "job", "task"}
ERAS = [
    ("1.15", "3.7", "master"),
    ("2.1", "3.7", "chief"),
    ("2.2", "3.7", "chief"),
    ("2.11", "3.7", "chief"),
    ("2.15", "3.10", "chief"),
    ("2.21", "3.11", "chief"),
    (None, None, "chief"),
]
"""Runtime version, Python, and what the primary is called."""


def told(spec: JobSpec, replica: str) -> Told:
    addresses = {name: Address(f"host-{name}", 2222, (3333,)) for name in spec.replica_names()}
    made = variables(spec, replica, addresses, "an id")
    return {name: json.loads(value) for name, value in made.items()}


def hosts(*replicas: str) -> list[str]:
    return [f"host-{replica}:2222" for replica in replicas]


def assert_tensorflow_cluster(spec: JobSpec, chief: str, job: dict[str, object]) -> None:
    """Of a job of ml v1 with all ``ROLES``, on each replica."""
    cluster = {
        chief: hosts("master-replica-0"),
        "worker": hosts("worker-replica-0", "worker-replica-1"),
        "ps": hosts("ps-replica-0"),
    }
    for kind, index, replica in [(chief, 0, "master-replica-0"), *TASKS]:
        config = told(spec, replica)["TF_CONFIG"]
        assert set(config) == KEYS
        assert config["cluster"] == cluster
        assert config["environment"] == "cloud"
        assert config["job"] == job
        assert config["task"] == {"type": kind, "index": index, "cloud": "an id"}


@pytest.mark.parametrize(("version", "python", "chief"), ERAS)
def test_ai_platform_runtimes(version: str | None, python: str | None, chief: str) -> None:
    made = training(CUSTOM, ROLES, {"runtimeVersion": version, "pythonVersion": python})

    assert made.violations == ()
    assert "CLUSTER_SPEC" not in told(made.spec, "master-replica-0")
    assert_tensorflow_cluster(made.spec, chief, json.loads(made.request)["trainingInput"])


@pytest.mark.parametrize(("flag", "chief"), [(None, "master"), (False, "master"), (True, "chief")])
def test_ai_platform_containers(flag: bool | None, chief: str) -> None:  # noqa: FBT001
    made = training(CUSTOM, ROLES, IMAGE, {"useChiefInTfConfig": flag}, base={})
    job = json.loads(made.request)["trainingInput"]

    assert made.violations == ()
    assert_tensorflow_cluster(made.spec, chief, job)
    spelled = told(made.spec, "evaluator-replica-0")["CLUSTER_SPEC"]
    assert set(spelled) == KEYS | {"open_ports"}
    assert spelled["cluster"] == {
        "master": hosts("master-replica-0"),
        "worker": hosts("worker-replica-0", "worker-replica-1"),
        "ps": hosts("ps-replica-0"),
        "evaluator": hosts("evaluator-replica-0"),
    }
    assert spelled["task"] == {"type": "evaluator", "index": 0}
    assert (spelled["environment"], spelled["job"]) == ("cloud", job)


IMAGES = [
    "tf-cpu.1-15.py37",
    "tf-cpu.2-1.py37",
    "tf-gpu.2-11.py310",
    "tf-cpu.2-21.py311",
    "pytorch-gpu.1-13.py310",
]
VERTEX = [("workerpool1", 1, "worker"), ("workerpool2", 0, "ps"), ("workerpool3", 2, "evaluator")]


def vertex_pools(image: str | None) -> list[JsonObject]:
    """One primary, two workers, two parameter servers, three evaluators; None: containers."""
    uri = f"us-docker.pkg.dev/vertex-ai/training/{image}:latest"
    package: JsonObject = {**PACKAGE, "executorImageUri": uri}
    one = container() if image is None else pool(pythonPackageSpec=package)
    return [{**one, "replicaCount": str(count)} for count in (1, 2, 2, 3)]


@pytest.mark.parametrize("trial", [None, "1", "12"])
@pytest.mark.parametrize("image", [*IMAGES, None])
def test_vertex(image: str | None, trial: str | None) -> None:
    made = submit(body(*vertex_pools(image)))
    spec = made.spec if trial is None else run_spec(made.spec, (), (), int(trial), "search")
    job = json.loads(made.request)["jobSpec"]
    own = {} if trial is None else {"trial": trial}
    pools = {
        f"workerpool{number}": hosts(*(f"workerpool{number}-{index}" for index in range(count)))
        for number, count in enumerate((1, 2, 2, 3))
    }

    assert made.violations == ()
    for kind, index, role in [("workerpool0", 0, "chief"), *VERTEX]:
        found = told(spec, f"{kind}-{index}")
        assert found["CLUSTER_SPEC"] == {
            "cluster": pools,
            "environment": "cloud",
            "task": {"type": kind, "index": index, **own},
            "job": job,
            "open_ports": [3333],
        }
        assert found["TF_CONFIG"] == {
            "cluster": {
                "chief": pools["workerpool0"],
                "worker": pools["workerpool1"],
                "ps": pools["workerpool2"],
            },
            "environment": "cloud",
            "job": job,
            "task": {"type": role, "index": index, "cloud": "an id", **own},
        }


@pytest.mark.parametrize("image", IMAGES)
def test_a_single_replica_on_vertex_has_no_tf_config(image: str) -> None:
    """Section "Format of TF_CONFIG": it isn't set where a job has one replica."""
    made = submit(body(vertex_pools(image)[0]))

    assert set(told(made.spec, "workerpool0-0")) == {"CLUSTER_SPEC"}


def test_a_trial_on_ai_platform_is_numbered_in_the_task() -> None:
    """Section "Format of TF_CONFIG", ``trial``: only in a tuning job, from 1."""
    made = training(CUSTOM, ROLES, {"runtimeVersion": "2.11", "pythonVersion": "3.7"})
    spec = run_spec(made.spec, (), (), 1, "search")

    assert told(spec, "worker-replica-1")["TF_CONFIG"]["task"] == {
        "type": "worker",
        "index": 1,
        "trial": "1",
        "cloud": "an id",
    }
    assert "trial" not in told(made.spec, "worker-replica-1")["TF_CONFIG"]["task"]


def test_only_the_task_differs_between_replicas() -> None:
    """Section "Format of TF_CONFIG": ``cluster`` is the same on all machines, ``task`` isn't."""
    spec = submit(body(*vertex_pools(IMAGES[0]))).spec
    found = [told(spec, name) for name in spec.replica_names()]

    for variable in ("TF_CONFIG", "CLUSTER_SPEC"):
        tasks = [json.dumps(each[variable].pop("task")) for each in found]
        assert len(set(tasks)) == len(tasks)
        assert all(each[variable] == found[0][variable] for each in found)


TPU: JsonObject = {**CUSTOM, "workerType": "cloud_tpu", "workerCount": "1"}


@pytest.mark.parametrize("machines", [{"scaleTier": "BASIC_TPU"}, TPU])
def test_a_tpu_worker_runs_no_program_of_the_user(machines: JsonObject) -> None:
    """The master alone does, and is no cluster."""
    spec = training(machines, {"runtimeVersion": "2.11", "pythonVersion": "3.7"}).spec

    assert spec.replica_names() == ("master-replica-0",)
    assert told(spec, "master-replica-0")["TF_CONFIG"]["cluster"] == {}
