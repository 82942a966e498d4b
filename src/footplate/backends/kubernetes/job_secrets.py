"""Reads and changes Secrets of jobs: each try to submit a job makes one, which owns its Pods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kubernetes.client.exceptions import ApiException

from footplate.backends.engine.engine import EngineUnavailable
from footplate.backends.kubernetes.connection import RAW, list_objects, say
from footplate.backends.kubernetes.manifests import JOB
from footplate.backends.kubernetes.pod_states import find_end, parse_time

KEEP = timedelta(minutes=15)
"""How long the objects of a job that has ended stay, for those who look."""


def require_owner(core: Any, namespace: str, pod: dict[str, Any]) -> None:
    """Checks that the Pod of this name is of the same Secret.

    One of a Secret that was deleted with a refused job ends by itself: with the new mark its end
    would look as if somebody ended the job. Raises EngineUnavailable.
    """
    metadata = pod["metadata"]
    selector = f"{JOB}={metadata['labels'][JOB]}"
    for there in list_objects(core.list_namespaced_pod, namespace, selector):
        found = there["metadata"]
        owners = [each.get("uid") for each in found.get("ownerReferences") or ()]
        if found["name"] == metadata["name"] and metadata["ownerReferences"][0]["uid"] in owners:
            return
    raise EngineUnavailable(f"the Pod {metadata['name']} of an earlier try has yet to end")


def delete(core: Any, namespace: str, name: str) -> None:
    """Deletes the Secret; Kubernetes' garbage collection deletes its Pods."""
    try:
        core.delete_namespaced_secret(name, namespace, **RAW)
    except ApiException as error:
        if error.status != 404:
            raise


def delete_all(core: Any, secrets: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Deletes Secrets; yields a sentence for each one that can't be deleted."""
    for secret in secrets:
        name, namespace = secret["metadata"]["name"], secret["metadata"]["namespace"]
        try:
            delete(core, namespace, name)
        except ApiException as error:
            yield f"Secret {namespace}/{name} of an old job can't be deleted: {say(error)}"


def annotate(
    core: Any, secrets: Iterable[dict[str, Any]], annotations: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """Adds annotations to Secrets, by their names; yields a sentence for each one that fails."""
    for secret in secrets:
        name, namespace = secret["metadata"]["name"], secret["metadata"]["namespace"]
        if name not in annotations:
            continue
        patch = {"metadata": {"annotations": annotations[name]}}
        try:
            core.patch_namespaced_secret(name, namespace, patch, **RAW)
        except ApiException as error:
            yield f"Secret {namespace}/{name} can't tell why its Pods end: {say(error)}"


def find_old(
    secrets: Iterable[dict[str, Any]], pods: Iterable[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Yields those of ended jobs' Secrets whose jobs ended longer ago than ``KEEP``."""
    ends: dict[str, datetime] = {}
    for pod in pods:
        job, end = (pod["metadata"].get("labels") or {}).get(JOB), find_end(pod)
        if job and end:
            ends[job] = max(end, ends.get(job, end))
    for secret in secrets:
        metadata = secret["metadata"]
        moments = (parse_time(metadata.get("creationTimestamp")), ends.get(metadata["name"]))
        known = [moment for moment in moments if moment is not None]
        if known and datetime.now(UTC) - max(known) > KEEP:
            yield secret
