"""What is read of Kubernetes at each look at its jobs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from footplate.backends.engine.engine import JobPhase, JobRequest, LauncherRequest
from footplate.backends.kubernetes import KubernetesEngine, PodSettings
from footplate.backends.kubernetes.manifests import COMPLETE, make_pod, make_secret
from tests.support.http_server import serve

REQUEST = JobRequest("footplate-x-u1-1.0", "asia-east1", (LauncherRequest("master"),), b"print()")
METADATA = "as=PartialObjectMetadataList"


def kubeconfig(url: str) -> str:
    return json.dumps(
        {
            "clusters": [{"name": "c", "cluster": {"server": url}}],
            "users": [{"name": "u", "user": {"token": "t"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "current-context": "x",
        }
    )


class Server:
    """Has one job, whose Pod runs; it answers lists in the form that is asked for."""

    def __init__(self) -> None:
        secret = make_secret(REQUEST)
        made = {"uid": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
        secret["metadata"] = {**secret["metadata"], **made}
        secret["metadata"]["annotations"][COMPLETE] = "true"
        pod = make_pod(PodSettings(image="i"), secret, 0, REQUEST.launchers[0])
        self.secret, self.pod = secret, {**pod, "status": {"phase": "Running"}}
        self.sent: list[dict[str, Any]] = []
        self.ready = ""
        """Of its node; empty: nodes may not be read."""
        self.app = Starlette(
            routes=[
                Route("/api/v1/namespaces/default/{kind}", self._answer, methods=["GET"]),
                Route("/api/v1/nodes", self._answer_node, methods=["GET"]),
            ]
        )

    async def _answer_node(self, request: Request) -> JSONResponse:
        if not self.ready:
            return JSONResponse({"message": "forbidden"}, 403)
        assert request.query_params["fieldSelector"] == "metadata.name=n1"
        status = {"conditions": [{"type": "Ready", "status": self.ready}]}
        return JSONResponse({"items": [{"metadata": {"name": "n1"}, "status": status}]})

    async def _answer(self, request: Request) -> JSONResponse:
        found = self.secret if request.path_params["kind"] == "secrets" else self.pod
        if METADATA in request.headers["accept"]:
            found = {"metadata": found["metadata"]}
        self.sent.append(found)
        return JSONResponse({"metadata": {}, "items": [found]})


def test_a_look_at_all_jobs_reads_no_program(tmp_path: Path) -> None:
    server = Server()
    with serve(server.app) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        (job,) = engine.list("footplate-x-")
    assert (job.name, job.phase) == (REQUEST.name, JobPhase.RUNNING)
    secret, pod = server.sent
    assert secret.keys() == {"metadata"}
    assert pod["status"] == {"phase": "Running"}


@pytest.mark.parametrize("ready", ["True", "Unknown", ""])
def test_the_node_of_a_pod_that_does_not_start_is_asked_for(tmp_path: Path, ready: str) -> None:
    """Where the namespace is all that may be read, nothing is said of it."""
    server = Server()
    server.pod["spec"]["nodeName"] = "n1"
    bound = {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
    server.pod["status"] = {"phase": "Pending", "conditions": [bound]}
    server.ready = ready
    with serve(server.app) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        (job,) = engine.list("footplate-x-")
    assert [task.stuck for task in job.tasks] == [ready == "Unknown"]


async def answer_nothing(_: Request) -> JSONResponse:
    """As Kubernetes 1.20 does for metadata alone."""
    return JSONResponse({"metadata": {}, "items": None})


def test_a_namespace_without_jobs_is_empty(tmp_path: Path) -> None:
    with serve(Starlette(routes=[Route("/{path:path}", answer_nothing)])) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        assert engine.list("footplate-x-") == ()
