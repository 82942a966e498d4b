"""The Pods of a job, seen as one."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from footplate.backends.engine.engine import EngineJob, EngineTask, JobPhase
from footplate.backends.kubernetes.manifests import (
    COMPLETE,
    DISRUPTED,
    JOB,
    RANKS,
    object_name,
    pod_name,
)
from footplate.backends.kubernetes.pod_states import (
    DELETED,
    MALFORMED,
    NODE_GONE,
    PodState,
    PodView,
    see_pod,
)
from footplate.ports.backend import EndCause

UNKNOWN_NODE = "?"
"""The node of a Pod that isn't there any more: it may have been deleted without its node's word."""
_COUNT = re.compile("[1-9][0-9]{0,5}")


@dataclass(frozen=True)
class Listing:
    """The jobs of a list, and a sentence on each object that can't be read or isn't Footplate's."""

    jobs: tuple[EngineJob, ...]
    oddities: tuple[str, ...] = ()
    disruptions: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """The annotations to add to Secrets, by their names."""


def find_jobs(
    secrets: Iterable[dict[str, Any]], prefix: str
) -> tuple[list[dict[str, Any]], list[str]]:
    """Returns the Secrets of jobs whose names begin with ``prefix``, and sentences on odd ones."""
    found, oddities = [], []
    for secret in secrets:
        metadata = secret["metadata"]
        annotations = metadata.get("annotations") or {}
        job = annotations.get(JOB, "")
        if not job:
            oddities.append(f"Secret {_name(secret)} has Footplate's label but no job: {_REMOVE}")
        elif not job.startswith(prefix):
            continue
        elif metadata["name"] != object_name(job):
            oddities.append(f"Secret {_name(secret)} is a copy of another job's: delete it")
        elif not _COUNT.fullmatch(annotations.get(RANKS, "")):
            oddities.append(
                f"Secret {_name(secret)} doesn't say how many Pods its job has: the annotation "
                f"{RANKS} is {annotations.get(RANKS)!r}; delete the Secret, or mend the annotation"
            )
        else:
            found.append(secret)
    return found, oddities


def see_jobs(
    secrets: Iterable[dict[str, Any]],
    pods: Iterable[dict[str, Any]],
    silent: frozenset[str] = frozenset(),
) -> Listing:
    """Returns the jobs whose Pods were all created at some time; other jobs can't be judged.

    ``secrets`` are of ``find_jobs``; ``silent`` are nodes that don't answer Kubernetes.
    """
    views: dict[str, dict[str, PodView]] = defaultdict(dict)
    oddities = []
    for pod in pods:
        job = (pod["metadata"].get("labels") or {}).get(JOB)
        if not job:
            oddities.append(f"Pod {_name(pod)} has Footplate's label but no job: {_REMOVE}")
            continue
        views[job][pod["metadata"]["name"]] = view = _see_pod(pod, silent)
        if view.unreadable:
            oddities.append(view.reason)
    complete = [each for each in secrets if COMPLETE in each["metadata"]["annotations"]]
    known = [(secret, views[secret["metadata"]["name"]]) for secret in complete]
    return Listing(
        tuple(see_job(*each) for each in known),
        tuple(oddities),
        {s["metadata"]["name"]: found for s, v in known if (found := find_disruptions(s, v))},
    )


def see_pods(pods: Iterable[dict[str, Any]]) -> dict[str, PodView]:
    """Returns the states of Pods by their names."""
    return {pod["metadata"]["name"]: _see_pod(pod, frozenset()) for pod in pods}


def see_job(secret: dict[str, Any], known: Mapping[str, PodView]) -> EngineJob:
    """Returns a job. ``known`` has the states of its Pods by their names."""
    metadata = secret["metadata"]
    names = [pod_name(metadata["name"], n) for n in range(int(metadata["annotations"][RANKS]))]
    views = [known.get(name) or _miss(metadata, rank) for rank, name in enumerate(names)]
    phase = _phase(views)
    return EngineJob(
        id=metadata["name"],
        name=metadata["annotations"][JOB],
        phase=phase,
        reason=_reason(sorted(views, key=lambda view: not view.missing), phase),
        nodes=",".join(sorted({view.node for view in views if view.node})),
        cause=_joint_cause(views),
        tasks=tuple(_see_task(view) for view in views),
    )


def find_disruptions(secret: dict[str, Any], known: Mapping[str, PodView]) -> dict[str, str]:
    """Returns the annotations that a Secret lacks to tell of Pods that the cluster ends.

    A Pod goes soon after the cluster has ended it, and its reason with it.
    """
    metadata = secret["metadata"]
    found = {}
    for rank in range(int(metadata["annotations"][RANKS])):
        view = known.get(pod_name(metadata["name"], rank))
        if view and view.disruption and f"{DISRUPTED}{rank}" not in metadata["annotations"]:
            found[f"{DISRUPTED}{rank}"] = view.disruption
    return found


def _miss(metadata: dict[str, Any], rank: int) -> PodView:
    """Returns the state of a Pod that isn't there any more."""
    disruption = metadata["annotations"].get(f"{DISRUPTED}{rank}", "")
    reason = disruption or DELETED
    return PodView(PodState.ENDED, reason, UNKNOWN_NODE, True, disruption=disruption, missing=True)


def _see_pod(pod: dict[str, Any], silent: frozenset[str]) -> PodView:
    """Returns a Pod's state; that of one that can't be read says nothing of its processes."""
    try:
        return see_pod(pod, silent)
    except MALFORMED as error:
        reason = f"the server can't read the state of Pod {_name(pod)}: {error!r}"
        return PodView(PodState.UNREACHABLE, reason, UNKNOWN_NODE, unreadable=True)


_REMOVE = "remove the label app.kubernetes.io/managed-by=footplate from it"


def _name(found: dict[str, Any]) -> str:
    """Returns the name of an object with its namespace, for users."""
    metadata = found["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{metadata.get('name')}"


def _see_task(view: PodView) -> EngineTask:
    return EngineTask(
        ended=not view.missing and view.state is PodState.ENDED,
        stuck=view.missing or view.state is PodState.UNREACHABLE,
        reason=view.reason,
        cause=_joint_cause([view]),
    )


def _joint_cause(views: list[PodView]) -> EndCause:
    """Returns the cause of the job's end: by deleting a Pod somebody ends the job."""
    causes = [_cause(view) for view in views]
    if EndCause.CANCELLED in causes:
        return EndCause.CANCELLED
    return next((cause for cause in causes if cause is not EndCause.UNKNOWN), EndCause.UNKNOWN)


def _cause(view: PodView) -> EndCause:
    """Returns the cause of a Pod's end. The cluster needs the node of one that it disrupts; one
    whose node is gone is lost, as any replica there.
    """
    if view.disruption:
        is_lost = view.disruption.startswith(NODE_GONE)
        return EndCause.UNKNOWN if is_lost else EndCause.PREEMPTED
    return EndCause.CANCELLED if view.deleted else view.cause


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
