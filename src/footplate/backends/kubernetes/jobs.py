"""The Pods of a job, seen as one."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from footplate.backends.engine.engine import EngineJob, JobPhase
from footplate.backends.kubernetes.manifests import COMPLETE, JOB, RANKS
from footplate.backends.kubernetes.pod_states import DELETED, PodState, PodView, see_pod

if TYPE_CHECKING:
    from collections.abc import Iterable

UNKNOWN_NODE = "?"
"""Of a Pod that isn't there any more: it may have been deleted without its node's word."""


def see_jobs(
    secrets: Iterable[dict[str, Any]], pods: Iterable[dict[str, Any]]
) -> tuple[EngineJob, ...]:
    """Those of which all Pods were made once: of a job that isn't complete nothing is known."""
    by_job: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for pod in pods:
        by_job[pod["metadata"]["labels"][JOB]].append(pod)
    return tuple(
        see_job(secret, by_job[secret["metadata"]["name"]])
        for secret in secrets
        if COMPLETE in secret["metadata"]["annotations"]
    )


def see_job(secret: dict[str, Any], pods: Iterable[dict[str, Any]]) -> EngineJob:
    metadata = secret["metadata"]
    views = [see_pod(pod) for pod in pods]
    missing = int(metadata["annotations"][RANKS]) - len(views)
    views[:0] = [PodView(PodState.ENDED, DELETED, UNKNOWN_NODE, deleted=True)] * missing
    phase = _phase(views)
    return EngineJob(
        id=metadata["name"],
        name=metadata["annotations"][JOB],
        phase=phase,
        reason=_reason(views, phase),
        nodes=",".join(sorted({view.node for view in views if view.node})),
        cancelled=any(view.deleted for view in views),
    )


def _phase(views: list[PodView]) -> JobPhase:
    states = {view.state for view in views}
    if states <= {PodState.ENDED}:
        return JobPhase.ENDED
    if states & {PodState.RUNNING, PodState.UNREACHABLE}:
        return JobPhase.RUNNING
    return JobPhase.WAITING


def _reason(views: list[PodView], phase: JobPhase) -> str:
    """Of the first Pod that the phase is of; of a job that runs, what its other Pods wait for."""
    if phase is JobPhase.ENDED:
        return next((view.reason for view in views if view.reason), "")
    waiting = [view for view in views if view.state is PodState.WAITING]
    reason = waiting[0].reason if waiting else ""
    if reason and len(views) > 1:
        return f"{len(views) - len(waiting)} of {len(views)} Pods have started; {reason}"
    return reason
