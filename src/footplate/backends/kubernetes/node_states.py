"""Reads the states of nodes, the API's objects of core/v1 ``Node``. Pure."""

from __future__ import annotations

from typing import Any

from footplate.backends.engine.engine import NodeState

OUT_OF_SERVICE = "node.kubernetes.io/out-of-service"
"""The taint by which administrators say that nothing runs on a node."""


def see_node(name: str, node: dict[str, Any] | None) -> NodeState:
    """Returns a node's state. ``node`` is the API's JSON; None: it has no such node."""
    if node is None:
        return NodeState(name, silent=True, off="was deleted in Kubernetes")
    taints = (node.get("spec") or {}).get("taints") or ()
    is_out = any(taint.get("key") == OUT_OF_SERVICE for taint in taints)
    info = (node.get("status") or {}).get("nodeInfo") or {}
    return NodeState(
        name,
        silent=not is_ready(node),
        boot_id=str(info.get("bootID") or ""),
        off=f"has the taint {OUT_OF_SERVICE}" if is_out else "",
    )


def is_ready(node: dict[str, Any] | None) -> bool:
    conditions = ((node or {}).get("status") or {}).get("conditions") or ()
    return any((c.get("type"), c.get("status")) == ("Ready", "True") for c in conditions)
