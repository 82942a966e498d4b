"""Nodes of Kubernetes as its API has them: which prove that what ran there has ended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from footplate.backends.engine.engine import NodeState
from footplate.backends.kubernetes import KubernetesEngine, PodSettings
from footplate.backends.kubernetes.node_states import OUT_OF_SERVICE, see_node
from tests.support.http_server import serve
from tests.unit.backends.kubernetes.test_listing import kubeconfig

BOOT_ID = "3b5f1a6e-97f0-4b43-8f3c-b4a1d0a9c0de"


def node(ready: str = "True", *taints: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "k1"},
        "spec": {"taints": [{"key": key, "effect": "NoExecute"} for key in taints]},
        "status": {
            "conditions": [{"type": "Ready", "status": ready}],
            "nodeInfo": {"bootID": BOOT_ID},
        },
    }


def test_states_of_nodes() -> None:
    assert see_node("k1", node()) == NodeState("k1", boot_id=BOOT_ID)
    away = see_node("k1", node("Unknown", "node.kubernetes.io/unreachable"))
    assert away == NodeState("k1", silent=True, boot_id=BOOT_ID)
    out = see_node("k1", node("Unknown", "node.kubernetes.io/unreachable", OUT_OF_SERVICE))
    assert out.off == "has the taint node.kubernetes.io/out-of-service"
    assert see_node("k1", None).off == "was deleted in Kubernetes"
    assert see_node("k1", {"status": {}}) == NodeState("k1", silent=True)


def test_nodes_are_asked_for_one_by_one_with_the_right_to_list_them(tmp_path: Path) -> None:
    asked = []

    async def answer(request: Request) -> JSONResponse:
        asked.append(request.query_params["fieldSelector"])
        if asked[-1] == "metadata.name=a,b":
            return JSONResponse({"message": "invalid"}, 400)
        return JSONResponse({"items": [node()] if asked[-1] == "metadata.name=k1" else []})

    with serve(Starlette(routes=[Route("/api/v1/nodes", answer)])) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        k1, k2 = engine.node_states(["k1", "a,b", "k2"])
    assert (k1.boot_id, k2.off) == (BOOT_ID, "was deleted in Kubernetes")


def test_an_account_that_may_not_list_nodes_knows_nothing_of_them(tmp_path: Path) -> None:
    async def refuse(_: Request) -> JSONResponse:
        return JSONResponse({"message": "forbidden"}, 403)

    with serve(Starlette(routes=[Route("/api/v1/nodes", refuse)])) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        assert tuple(engine.node_states(["k1"])) == ()
