"""A Pod that runs a short Python program on a node; its message is what the program prints.

Kubernetes passes the message on in the Pod's status, which needs no further right to be read.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from footplate.backends.engine.engine import LauncherRequest
from footplate.backends.kubernetes.manifests import (
    CONTAINER,
    JOB,
    MANAGED_BY,
    QUEUE_LABEL,
    PodSettings,
    fill,
)

_MESSAGE = "/dev/termination-log"
_RUN = (
    f"import sys; sys.stdout = open({_MESSAGE!r}, 'w'); exec(compile(sys.argv[1], 'probe', 'exec'))"
)


def make_probe(
    settings: PodSettings, name: str, launcher: LauncherRequest, program: str
) -> dict[str, Any]:
    """Returns the Pod, from the region's template, as those of replicas are."""
    pod = deepcopy(dict(settings.template))
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    first, *others = spec.get("containers") or [{}]
    container = {
        **fill(first, settings, launcher),
        "command": [settings.python, "-I", "-S", "-c", _RUN],
        "args": [program.replace("$", "$$")],  # Kubernetes replaces $(NAME) there, too
        "terminationMessagePath": _MESSAGE,
        "volumeMounts": [*(first.get("volumeMounts") or ())],
    }
    queue = {QUEUE_LABEL: settings.queue} if settings.queue else {}
    labels = {**(metadata.get("labels") or {}), **queue, **MANAGED_BY, JOB: name}
    selector = {**(spec.get("nodeSelector") or {}), **settings.machines.get("*", {})}
    return {
        **pod,
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {**metadata, "name": name, "labels": labels},
        "spec": {
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            **spec,
            "restartPolicy": "Never",
            "containers": [container, *others],
            **({"nodeSelector": selector} if selector else {}),
        },
    }


def read_message(pod: dict[str, Any]) -> str | None:
    """Returns what the Pod's program has printed; None while it may still run."""
    for container in (pod.get("status") or {}).get("containerStatuses") or ():
        ended = (container.get("state") or {}).get("terminated")
        if container["name"] == CONTAINER and ended:
            return str(ended.get("message") or ended.get("reason") or "")
    return None
