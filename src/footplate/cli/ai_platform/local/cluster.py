"""The replicas of a local run, and the job that requests them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.cli.ai_platform.jobs.submit.request import make_job

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.cli.ai_platform.local.options import LocalTrain
    from footplate.wire.json_text import JsonObject

JOB = "local_train"
WORKERS = 2
PARAMETER_SERVERS = 2
"""Both counts are gcloud's, for a distributed run that names none."""
_MACHINE = "n1-standard-4"


@dataclass(frozen=True)
class Cluster:
    """How many replicas there are besides the master."""

    workers: int = 0
    parameter_servers: int = 0
    evaluators: int = 0

    @property
    def replicas(self) -> int:
        return 1 + self.workers + self.parameter_servers + self.evaluators


def cluster(run: LocalTrain) -> Cluster:
    """Counts that are None are gcloud's; all of them count in a distributed run only."""
    if not run.distributed:
        return Cluster()
    workers, servers = run.worker_count, run.parameter_server_count
    return Cluster(
        WORKERS if workers is None else workers,
        PARAMETER_SERVERS if servers is None else servers,
        run.evaluator_count or 0,
    )


def local_job(
    members: Cluster,
    options: Mapping[str, object],
    package_uris: Sequence[str],
    user_args: Sequence[str] | None,
) -> JsonObject:
    """``options`` as a submit has them: module_name, job_dir, runtime_version, python_version."""
    if members == Cluster():
        chosen: dict[str, object] = {"scale_tier": "basic"}
    else:
        chosen = {
            "scale_tier": "custom",
            "master_machine_type": _MACHINE,
            **_role("worker", members.workers),
            **_role("parameter_server", members.parameter_servers),
        }
    evaluators: JsonObject = {}
    if members.evaluators:  # a submit has no options for them
        evaluators = {"evaluatorType": _MACHINE, "evaluatorCount": str(members.evaluators)}
    return make_job(
        JOB,
        {"trainingInput": evaluators},
        {**options, **chosen},
        package_uris=package_uris,
        user_args=user_args,
    )


def _role(name: str, count: int) -> dict[str, object]:
    return {f"{name}_machine_type": _MACHINE, f"{name}_count": count} if count else {}
