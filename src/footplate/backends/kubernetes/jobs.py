"""The Pods of a job, seen as one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from footplate.backends.engine.engine import EngineJob, EngineTask, JobPhase
from footplate.backends.kubernetes.manifests import COMPLETE, JOB, RANKS, pod_name
from footplate.backends.kubernetes.pod_states import DELETED, PodState, PodView, see_pod
from footplate.ports.backend import EndCause

UNKNOWN_NODE = "?"
"""The node of a Pod that isn't there any more: it may have been deleted without its node's word."""
_MISSING = PodView(PodState.ENDED, DELETED, UNKNOWN_NODE, deleted=True)


def see_jobs(
    secrets: Iterable[dict[str, Any]],
    pods: Iterable[dict[str, Any]],
    silent: frozenset[str] = frozenset(),
) -> tuple[EngineJob, ...]:
    """Returns the jobs whose Pods were all created at some time; other jobs can't be judged.

    ``silent`` are nodes that don't answer Kubernetes.
    """
    by_job: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for pod in pods:
        by_job[pod["metadata"]["labels"][JOB]].append(pod)
    return tuple(
        see_job(secret, by_job[secret["metadata"]["name"]], silent)
        for secret in secrets
        if COMPLETE in secret["metadata"]["annotations"]
    )


def see_job(
    secret: dict[str, Any],
    pods: Iterable[dict[str, Any]],
    silent: frozenset[str] = frozenset(),
) -> EngineJob:
    metadata = secret["metadata"]
    known = {pod["metadata"]["name"]: see_pod(pod, silent) for pod in pods}
    names = [pod_name(metadata["name"], n) for n in range(int(metadata["annotations"][RANKS]))]
    views = [known.get(name, _MISSING) for name in names]
    phase = _phase(views)
    return EngineJob(
        id=metadata["name"],
        name=metadata["annotations"][JOB],
        phase=phase,
        reason=_reason(sorted(views, key=lambda view: view is not _MISSING), phase),
        nodes=",".join(sorted({view.node for view in views if view.node})),
        cause=_joint_cause(views),
        tasks=tuple(_see_task(view) for view in views),
    )


def _see_task(view: PodView) -> EngineTask:
    known = view is not _MISSING
    return EngineTask(
        ended=known and view.state is PodState.ENDED,
        stuck=not known or view.state is PodState.UNREACHABLE,
        reason=view.reason,
        cause=_joint_cause([view]),
    )


def _joint_cause(views: list[PodView]) -> EndCause:
    """Returns the cause of the job's end: a Pod that was deleted is a wish to end the job."""
    causes = [EndCause.CANCELLED if view.deleted else view.cause for view in views]
    if EndCause.CANCELLED in causes:
        return EndCause.CANCELLED
    return next((cause for cause in causes if cause is not EndCause.UNKNOWN), EndCause.UNKNOWN)


def _phase(views: list[PodView]) -> JobPhase:
    states = {view.state for view in views}
    if states <= {PodState.ENDED}:
        return JobPhase.ENDED
    if states & {PodState.RUNNING, PodState.UNREACHABLE}:
        return JobPhase.RUNNING
    return JobPhase.WAITING


def _reason(views: list[PodView], phase: JobPhase) -> str:
    """Returns why the job ended, or what its Pods wait for, from the first Pod with a reason."""
    if phase is JobPhase.ENDED:
        return next((view.reason for view in views if view.reason), "")
    waiting = [view for view in views if view.state is PodState.WAITING]
    reason = waiting[0].reason if waiting else ""
    if reason and len(views) > 1:
        return f"{len(views) - len(waiting)} of {len(views)} Pods have started; {reason}"
    return reason
