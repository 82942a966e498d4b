"""Checks a cluster: its namespaces, the account's rights in them, its nodes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from kubernetes import client as api
from kubernetes.client.exceptions import ApiException

from footplate.backends.kubernetes.connection import RAW, TIMEOUT_S, list_nodes, read
from footplate.backends.kubernetes.manifests import PodSettings
from footplate.backends.kubernetes.node_states import is_ready
from footplate.ports.engines import EngineReport

NEEDED_RIGHTS = (
    *(("secrets", verb) for verb in ("create", "get", "list", "patch", "delete")),
    *(("pods", verb) for verb in ("create", "list", "deletecollection")),
)
"""What the engine calls in its namespaces. Kubernetes itself deletes a deleted Secret's Pods."""


def check_cluster(core: Any, namespaces: Sequence[str], settings: PodSettings) -> EngineReport:
    """Reports the cluster's version and nodes, and what the engine lacks in its namespaces.

    The errors are the client's.
    """
    version = api.VersionApi(core.api_client).get_code(_request_timeout=TIMEOUT_S)
    word = "namespace" if len(namespaces) == 1 else "namespaces"
    facts = [f"version: Kubernetes {version.git_version}, {word} {', '.join(namespaces)}"]
    problems = [problem for name in namespaces for problem in _check_namespace(core, name)]
    nodes = list_nodes(core)
    ready = [node for node in nodes if is_ready(node)]
    facts.append(f"nodes: {len(ready)} of {len(nodes)} are ready")
    problems += _unmapped(settings, ready) if nodes else ()
    return EngineReport(True, tuple(facts), tuple(problems))


def _check_namespace(core: Any, namespace: str) -> Iterator[str]:
    try:
        core.read_namespace(namespace, **RAW)
    except ApiException as error:
        if error.status == 404:
            yield f"the cluster has no namespace {namespace}"
    reviews: Any = api.AuthorizationV1Api(core.api_client)
    for resource, verb in NEEDED_RIGHTS:
        attributes = {"namespace": namespace, "resource": resource, "verb": verb}
        body = {"spec": {"resourceAttributes": attributes}}
        answer = read(reviews.create_self_subject_access_review(body, **RAW))
        if not answer["status"].get("allowed"):
            yield f"the server's account may not {verb} {resource} in the namespace {namespace}"


def _unmapped(settings: PodSettings, ready: Iterable[dict[str, Any]]) -> Iterator[str]:
    """Yields a sentence for each machine type whose labels no ready node has."""
    known = [(node["metadata"].get("labels") or {}).items() for node in ready]
    for machine, labels in settings.machines.items():
        if not any(labels.items() <= each for each in known):
            wanted = ",".join(f"{key}={value}" for key, value in labels.items())
            yield f"no ready node has the labels {wanted}, which machine type {machine} needs"
