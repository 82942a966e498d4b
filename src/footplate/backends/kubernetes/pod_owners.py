"""The Secrets that own Pods: each try to submit a job makes a Secret of its own."""

from __future__ import annotations

from typing import Any

from footplate.backends.engine.engine import EngineUnavailable
from footplate.backends.kubernetes.connection import list_objects
from footplate.backends.kubernetes.manifests import JOB


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
