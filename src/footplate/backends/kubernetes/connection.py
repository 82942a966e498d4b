"""Connections to a cluster's API, with the credentials of a kubeconfig file or of a Pod."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kubernetes import client as api
from kubernetes import config
from kubernetes.client.exceptions import ApiException
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection

from footplate.limited_http import LimitedResponse

TIMEOUT_S = 20
PAGE = 500
RAW: dict[str, Any] = {"_preload_content": False, "_request_timeout": TIMEOUT_S}
"""Answers as the API gives them: what its objects have more than core/v1 had stays readable."""
_METADATA = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
"""Lists without what their objects hold: Secrets of jobs have a whole program, and tokens."""
_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True)
class Connection:
    """The clients, untyped: they take JSON objects, although their types require models."""

    core: Any
    metadata: Any
    """The same API, which answers lists with the metadata of objects alone."""
    namespace: str


class _Connection(HTTPConnection):
    response_class = LimitedResponse


class _TlsConnection(HTTPSConnection):
    response_class = LimitedResponse


class _Pool(HTTPConnectionPool):
    ConnectionCls = _Connection


class _TlsPool(HTTPSConnectionPool):
    ConnectionCls = _TlsConnection


_POOLS = {"http": _Pool, "https": _TlsPool}


def connect(kubeconfig: str | None, context: str | None, namespace: str) -> Connection:
    """Connects to the cluster. The client itself renews credentials that expire.

    Without ``namespace`` it is that of the context or of the Pod. The errors are the client's.
    """
    configuration = api.Configuration()
    if kubeconfig is None and (_ACCOUNT / "token").exists():
        config.load_incluster_config(configuration)
        namespace = namespace or (_ACCOUNT / "namespace").read_text().strip()
    else:
        config.load_kube_config(kubeconfig, context, configuration, persist_config=False)
        namespace = namespace or _namespace_of(kubeconfig, context)
    whole, partial = api.ApiClient(configuration), api.ApiClient(configuration)
    partial.set_default_header("Accept", _METADATA)
    for each in (whole, partial):
        each.rest_client.pool_manager.pool_classes_by_scheme = _POOLS
    return Connection(api.CoreV1Api(whole), api.CoreV1Api(partial), namespace)


def _namespace_of(kubeconfig: str | None, context: str | None) -> str:
    contexts, active = config.list_kube_config_contexts(kubeconfig)
    found = next((c for c in contexts if c["name"] == context), active)
    return str(found["context"].get("namespace") or "default")


def list_objects(call: Callable[..., Any], namespace: str, selector: str) -> list[dict[str, Any]]:
    """Returns the objects of all pages, each with its namespace."""
    found: list[dict[str, Any]] = []
    token = ""
    while True:
        page = read(call(namespace, label_selector=selector, limit=PAGE, _continue=token, **RAW))
        found += page["items"] or ()  # null, of metadata alone where there is none
        token = page["metadata"].get("continue") or ""
        if not token:
            for each in found:
                each["metadata"].setdefault("namespace", namespace)
            return found


def list_nodes(core: Any) -> list[dict[str, Any]]:
    """Returns the nodes; none if the account may read only its namespaces."""
    try:
        return items(core.list_node(**RAW))
    except ApiException as error:
        if error.status == 403:
            return []
        raise


def read(response: Any) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(response.data)
    return found


def items(response: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read(response)["items"]
    return found


def say(error: ApiException) -> str:
    """Returns the message of the API's error."""
    try:
        return str(json.loads(error.body or "")["message"])
    except (ValueError, KeyError, TypeError):
        return f"HTTP {error.status} {error.reason}"
