"""The cluster description that programs read from TF_CONFIG and CLUSTER_SPEC.

Source: the training services' pages on distributed training ("CLUSTER_SPEC", "TF_CONFIG").
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

from footplate.domain.jobs import Address, ClusterVariable, JobSpec, WorkerPool

MASTER = "master"
WORKER = "worker"
EVALUATOR = "evaluator"
"""The role that looks at TensorFlow's cluster from outside: it is no member."""
_TASK_TYPES = {"workerpool1": WORKER, "workerpool2": "ps", "workerpool3": EVALUATOR}
"""What TensorFlow calls the pools that have numbers for roles."""
_LONGEST_JOB = 96 << 10


def variables(
    spec: JobSpec, replica: str, addresses: Mapping[str, Address], cloud: str
) -> dict[str, str]:
    """Returns the environment variables that describe the cluster to one replica.

    ``addresses`` has the address of every replica of the job, by name. ``cloud`` is a value that
    programs are told to ignore; it is the same for the whole job.
    """
    made: dict[str, str] = {}
    if ClusterVariable.CLUSTER_SPEC in spec.cluster_variables:
        made["CLUSTER_SPEC"] = _dump(_cluster_spec(spec, replica, addresses))
    if ClusterVariable.TF_CONFIG in spec.cluster_variables:
        made["TF_CONFIG"] = _dump(_tf_config(spec, replica, addresses, cloud))
    return made


def task_type(spec: JobSpec, pool: WorkerPool) -> str:
    """Returns TensorFlow's name for the replicas of a pool.

    It is ``chief`` or ``master``, ``worker``, ``ps`` or ``evaluator``.
    """
    if pool is spec.primary:
        return spec.chief_role
    return _TASK_TYPES.get(pool.cluster_role, pool.cluster_role)


def lacks_evaluator(spec: JobSpec) -> bool:
    """Returns whether no replica evaluates an Estimator: a ``chief`` leaves it to an evaluator.

    Source: tf.estimator.train_and_evaluate; a ``master`` evaluates itself, and so does one alone.
    """
    roles = {task_type(spec, pool) for pool in spec.pools if pool.replica_count}
    tells = ClusterVariable.TF_CONFIG in spec.cluster_variables
    is_gang = sum(pool.replica_count for pool in spec.pools) > 1
    return tells and is_gang and "chief" in roles and EVALUATOR not in roles


def add_evaluator(spec: JobSpec) -> str:
    """Returns advice to add an evaluator, in the spelling of the job's own API."""
    if spec.primary.cluster_role == "workerpool0":
        return "add an evaluator (workerPoolSpecs[3] with replicaCount: 1)"
    return "add an evaluator (evaluatorType, and evaluatorCount: 1)"


def _cluster_spec(
    spec: JobSpec, replica: str, addresses: Mapping[str, Address]
) -> dict[str, object]:
    """Returns CLUSTER_SPEC, in which each pool has its own role, evaluators included."""
    return {
        "cluster": _cluster(spec, addresses, lambda pool: pool.cluster_role),
        "environment": "cloud",
        "task": _task(spec, replica, lambda pool: pool.cluster_role),
        "job": _job(spec),
        "open_ports": list(addresses[spec.replica_names()[0]].open_ports),
    }


def _tf_config(
    spec: JobSpec, replica: str, addresses: Mapping[str, Address], cloud: str
) -> dict[str, object]:
    """Returns TF_CONFIG for one replica.

    A task is empty or complete: trainers read ``(config.get("task") or {...})["type"]``.

    A job of one replica has neither cluster nor task, as with ``gcloud ai-platform local train``.
    With a cluster of one ``chief``, TensorFlow trains as a distributed chief: train_and_evaluate
    doesn't evaluate. Without a cluster it refuses any type but ``worker``. Source:
    tf.estimator.RunConfig, seen on 1.15, 2.1, 2.11, 2.14 and 2.15.

    Only the task says which trial the replica belongs to, so the task of a single-replica trial is
    complete. A ``master`` is in a cluster of its own, where TensorFlow 1.15 evaluates; a ``chief``
    is called worker 0.
    """
    alone = len(spec.replica_names()) == 1
    is_master = spec.chief_role == MASTER

    def role(pool: WorkerPool) -> str:
        return WORKER if alone and not is_master else task_type(spec, pool)

    without = alone and not (is_master and spec.trial is not None)
    cluster = {} if without else _cluster(spec, addresses, role)
    cluster.pop(EVALUATOR, None)
    task = {} if alone and spec.trial is None else _task(spec, replica, role)
    return {
        "cluster": cluster,
        "environment": "cloud",
        "job": _job(spec),
        "task": {**task, "cloud": cloud} if task else {},
    }


def _job(spec: JobSpec) -> dict[str, object]:
    """Returns the job as its user asked for it, without its search if that is too long.

    Linux starts no program with a variable of 128 KiB. A trial gets its own values as arguments.
    """
    job: dict[str, object] = json.loads(spec.cluster_job)
    if len(spec.cluster_job.encode()) > _LONGEST_JOB:
        job.pop("hyperparameters", None)
    return job


def _cluster(
    spec: JobSpec, addresses: Mapping[str, Address], role: Callable[[WorkerPool], str]
) -> dict[str, list[str]]:
    """Returns the addresses of the replicas by role, which are the same for each replica."""
    return {
        role(pool): [str(addresses[name]) for name in pool.replica_names()]
        for pool in spec.pools
        if pool.replica_count
    }


def _task(spec: JobSpec, replica: str, role: Callable[[WorkerPool], str]) -> dict[str, object]:
    """Returns the task, the part of the description that differs for each replica."""
    pool, index = next((p, i) for name, p, i in spec.replicas() if name == replica)
    return {"type": role(pool), "index": index, **_trial(spec)}


def _trial(spec: JobSpec) -> dict[str, object]:
    return {} if spec.trial is None else {"trial": spec.trial}


def _dump(description: dict[str, object]) -> str:
    return json.dumps(description, ensure_ascii=False)
