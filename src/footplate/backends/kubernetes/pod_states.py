"""Translates the state of a Pod into what it means for its replica.

The fields are those of core/v1 ``PodStatus``; https://kubernetes.io/docs/concepts/workloads/pods/
pod-lifecycle has what each says.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from footplate.backends.kubernetes.image_pods import COPIER
from footplate.domain.formatting import last_line
from footplate.ports.backend import EndCause

SLOW = timedelta(seconds=20)
MOST_CHARACTERS = 500
_IMAGE_REASONS = frozenset(
    {"ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"}
)
_CREATING = ("", "ContainerCreating", "PodInitializing")
_START_REASONS = frozenset({"StartError", "ContainerCannotRun"})
MALFORMED = (KeyError, TypeError, ValueError, AttributeError)
"""The errors of reading an object without the fields that the API promises."""
DELETED = "the replica's Pod was deleted in Kubernetes"
NODE_GONE = "Kubernetes deleted the replica's Pod, whose node is gone"
_DISRUPTIONS = {
    "DisruptionTarget": {
        "PreemptionByScheduler": "Kubernetes preempted the replica's Pod",
        "PreemptionByKueueScheduler": "Kueue preempted the replica's Pod",
        "DeletionByTaintManager": "Kubernetes took the replica's Pod from a tainted node",
        "EvictionByEvictionAPI": "the replica's Pod was evicted from its node",
        "DeletionByPodGC": NODE_GONE,
        "TerminationByKubelet": "the replica's node ended its Pod",
    },
    "TerminationTarget": {"StoppedByKueue": "Kueue evicted the job"},
}
"""What the conditions of a Pod say by their reasons: those of Kubernetes, and that of Kueue."""


class PodState(Enum):
    WAITING = "WAITING"
    RUNNING = "RUNNING"
    ENDED = "ENDED"
    """None of its processes is left: the kubelet has said so."""
    UNREACHABLE = "UNREACHABLE"
    """It is to go, or its node is away, and the kubelet has not said that its processes ended."""


@dataclass(frozen=True)
class PodView:
    state: PodState
    reason: str = ""
    node: str = ""
    deleted: bool = False
    """Somebody has deleted it, with Kubernetes' own means or by us."""
    cause: EndCause = EndCause.UNKNOWN
    """What its end was, unless that is a deletion."""
    disruption: str = ""
    """Why the cluster itself, and no user of it, has ended it or is about to."""
    unreadable: bool = False
    missing: bool = False
    """It isn't there any more."""


def see_pod(pod: dict[str, Any], silent: frozenset[str] = frozenset()) -> PodView:
    """Returns a Pod's state. ``pod`` is the API's JSON; ``silent`` nodes don't answer."""
    status = pod.get("status") or {}
    node = (pod.get("spec") or {}).get("nodeName") or ""
    phase = status.get("phase")
    deleted = bool(pod["metadata"].get("deletionTimestamp"))
    disruption = _find_disruption(status)
    if phase in ("Succeeded", "Failed"):
        reason = disruption or (DELETED if deleted else _end_reason(status))
        return PodView(PodState.ENDED, reason, node, deleted, _end_cause(status), disruption)
    if _is_away(status) or (phase == "Pending" and node in silent):
        return PodView(
            PodState.UNREACHABLE, f"the replica's node {node} doesn't answer Kubernetes", node
        )
    if phase == "Running":
        return PodView(PodState.RUNNING, "", node, disruption=disruption)
    if deleted:
        state = PodState.UNREACHABLE if node else PodState.ENDED
        return PodView(state, disruption or DELETED, node, deleted, disruption=disruption)
    return PodView(PodState.WAITING, _waiting_reason(pod, status, node), node)


def find_slow_nodes(pods: Iterable[dict[str, Any]], now: datetime) -> list[str]:
    """Returns the nodes that haven't started a Pod within ``SLOW``, and so may be dead."""
    found = set()
    for pod in pods:
        with suppress(*MALFORMED):
            found |= {str(pod["spec"]["nodeName"])} if _is_slow(pod["status"], now) else set()
    return sorted(found)


def _is_slow(status: dict[str, Any], now: datetime) -> bool:
    """Returns whether a Pod that has a node waits for longer than ``SLOW`` there."""
    for condition in status.get("conditions") or ():
        since = parse_time(condition.get("lastTransitionTime"))
        bound = condition.get("type") == "PodScheduled" and condition.get("status") == "True"
        if status.get("phase") == "Pending" and bound and since and now - since > SLOW:
            return True
    return False


def find_end(pod: dict[str, Any]) -> datetime | None:
    """Returns when the last container of a Pod ended; None if none has."""
    ends: list[datetime] = []
    with suppress(*MALFORMED):
        for container in _containers(pod["status"]):
            ended = (container.get("state") or {}).get("terminated") or {}
            moment = parse_time(ended.get("finishedAt"))
            ends += [] if moment is None else [moment]
    return max(ends, default=None)


def parse_time(text: object) -> datetime | None:
    """Returns a moment of the API's; None for anything else."""
    try:
        moment = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return None if moment.tzinfo is None else moment


def _find_disruption(status: dict[str, Any]) -> str:
    """Returns why the cluster ends a Pod; '' if it doesn't.

    Kubernetes marks such Pods from 1.26 on. A Pod that the kubelet evicts because its node lacks
    memory or disk may have used that itself, so that is a failure like any other.
    """
    for condition in status.get("conditions") or ():
        kind, reason = condition.get("type"), condition.get("reason")
        evicted = reason == "TerminationByKubelet" and status.get("reason") == "Evicted"
        if condition.get("status") == "True" and kind in _DISRUPTIONS and not evicted:
            said = _DISRUPTIONS[kind].get(reason, f"the cluster ends the replica's Pod ({reason})")
            message = _shorten(condition.get("message") or "")
            return f"{said}: {message}" if message else said
    return ""


def _is_away(status: dict[str, Any]) -> bool:
    return status.get("reason") == "NodeLost" or any(
        found.get("type") == "Ready" and found.get("reason") == "NodeStatusUnknown"
        for found in status.get("conditions") or ()
    )


def _waiting_reason(pod: dict[str, Any], status: dict[str, Any], node: str) -> str:
    gates = (pod.get("spec") or {}).get("schedulingGates") or ()
    if gates:
        names = ", ".join(str(gate.get("name")) for gate in gates)
        return f"the scheduling gates {names} keep the replica's Pod from starting"
    for condition in status.get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            message = _shorten(condition.get("message") or condition.get("reason") or "")
            return f"Kubernetes has no node for the replica's Pod now: {message}"
    if not node:
        return "the replica's Pod waits for Kubernetes' scheduler"
    for container in _containers(status):
        waiting = (container.get("state") or {}).get("waiting") or {}
        reason, message = waiting.get("reason") or "", _shorten(waiting.get("message") or "")
        said = f"{reason}: {message}" if message else reason
        if reason in _IMAGE_REASONS:
            return f"node {node} can't pull the image {container.get('image')}: {said}"
        if reason not in _CREATING:
            return f"the replica's container can't start on node {node}: {said}"
    return f"Kubernetes creates the replica's container on node {node}"


def _end_cause(status: dict[str, Any]) -> EndCause:
    if status.get("reason") == "DeadlineExceeded":
        return EndCause.TIME_LIMIT
    states = (container.get("state") or {} for container in _containers(status))
    killed = any((state.get("terminated") or {}).get("reason") == "OOMKilled" for state in states)
    return EndCause.OUT_OF_MEMORY if killed else EndCause.UNKNOWN


def _end_reason(status: dict[str, Any]) -> str:
    reason = status.get("reason") or ""
    if reason:
        message = _shorten(status.get("message") or "")
        return f"Kubernetes ended the replica's Pod ({reason}{': ' + message if message else ''})"
    for container in _containers(status):
        ended = (container.get("state") or {}).get("terminated") or {}
        if ended.get("reason") == "OOMKilled":
            return "Kubernetes killed the replica's container: it used more memory than its limit"
        if ended.get("reason") in _START_REASONS:
            return f"the replica's container can't start: {_shorten(ended.get('message') or '')}"
        if ended.get("exitCode") and container.get("name") == COPIER:
            return f"the Pod can't install Python: {_shorten(ended.get('message') or '')}"
        if ended.get("exitCode"):
            said = last_line(ended.get("message") or "")
            reason = f"the replica's launcher ended with status {ended['exitCode']}"
            return f"{reason}: {said}" if said else reason
    return "the replica's Pod ended"


def _containers(status: dict[str, Any]) -> list[dict[str, Any]]:
    """Returns the states of the containers in the order of their start, init containers first."""
    kinds = ("initContainerStatuses", "containerStatuses")
    return [container for kind in kinds for container in status.get(kind) or ()]


def _shorten(text: str) -> str:
    """Returns the message shortened to one line: some have several lines, and name each node."""
    line = " ".join(text.split())
    return line if len(line) <= MOST_CHARACTERS else line[: MOST_CHARACTERS - 1] + "…"
