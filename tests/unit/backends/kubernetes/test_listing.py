"""What is read of Kubernetes at each look at its jobs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from footplate.backends.engine.engine import (
    EngineUnavailable,
    JobPhase,
    JobRequest,
    LauncherRequest,
)
from footplate.backends.kubernetes import KubernetesEngine, PodSettings
from footplate.backends.kubernetes.manifests import (
    COMPLETE,
    JOB,
    RANKS,
    make_pod,
    make_secret,
    object_name,
)
from footplate.ports.backend import EndCause
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


def make_job(request: JobRequest = REQUEST) -> tuple[dict[str, Any], dict[str, Any]]:
    """A job's Secret, complete, and its Pod, which runs."""
    secret = make_secret(request)
    made = {"uid": "1", "creationTimestamp": "2026-01-01T00:00:00Z"}
    secret["metadata"] = {**secret["metadata"], **made}
    secret["metadata"]["annotations"][COMPLETE] = "true"
    pod = make_pod(PodSettings(image="i"), secret, 0, request.launchers[0])
    return secret, {**pod, "status": {"phase": "Running"}}


class Server:
    """Has one job, whose Pod runs; it answers lists in the form that is asked for."""

    def __init__(self) -> None:
        self.secret, self.pod = make_job()
        self.others: dict[str, list[dict[str, Any]]] = {"secrets": [], "pods": []}
        self.deleted: list[str] = []
        self.sent: list[dict[str, Any]] = []
        self.ready = ""
        """Of its node; empty: nodes may not be read."""
        self.app = Starlette(
            routes=[
                Route("/api/v1/namespaces/default/{kind}", self._answer, methods=["GET"]),
                Route("/api/v1/namespaces/default/secrets/{name}", self._answer_one),
                Route(
                    "/api/v1/namespaces/default/secrets/{name}", self._delete, methods=["DELETE"]
                ),
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
        others = self.others[request.path_params["kind"]]
        return JSONResponse({"metadata": {}, "items": [*others, found]})

    async def _answer_one(self, request: Request) -> JSONResponse:
        secrets = (*self.others["secrets"], self.secret)
        name = request.path_params["name"]
        return JSONResponse(next(s for s in secrets if s["metadata"]["name"] == name))

    async def _delete(self, request: Request) -> JSONResponse:
        self.deleted.append(request.path_params["name"])
        return JSONResponse({"message": "a finalizer says no"}, 409)


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


class Spaces:
    """Keeps the objects of two namespaces; ``closed`` may not be read."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], dict[str, Any]] = {}
        self.closed = ""
        self.made = 0
        self.deleted: list[tuple[str, str]] = []
        path = "/api/v1/namespaces/{space}/{kind}"
        self.app = Starlette(
            routes=[
                Route(path, self._change, methods=["POST", "DELETE"]),
                Route(path, self._list),
                Route(path + "/{name}", self._one, methods=["GET", "PATCH"]),
            ]
        )

    async def _change(self, request: Request) -> JSONResponse:
        space, kind = request.path_params["space"], request.path_params["kind"]
        if request.method == "DELETE":
            self.deleted.append((space, request.query_params["labelSelector"]))
            return JSONResponse({})
        body = await request.json()
        metadata, self.made = body["metadata"], self.made + 1
        if (space, kind, metadata["name"]) in self.objects:
            return JSONResponse({"message": "already exists"}, 409)
        made = {"uid": str(self.made), "creationTimestamp": "2026-01-01T00:00:00Z"}
        metadata.update(**made, namespace=space)
        self.objects[space, kind, metadata["name"]] = body
        return JSONResponse(body)

    async def _list(self, request: Request) -> JSONResponse:
        where = request.path_params["space"], request.path_params["kind"]
        if self.closed == where[0]:
            return JSONResponse({"message": "secrets is forbidden"}, 403)
        found = [each for key, each in self.objects.items() if key[:2] == where]
        return JSONResponse({"metadata": {}, "items": found})

    async def _one(self, request: Request) -> JSONResponse:
        key = (request.path_params["space"], request.path_params["kind"])
        found = self.objects.get((*key, request.path_params["name"]))
        if found is None:
            return JSONResponse({"message": "not found"}, 404)
        if request.method == "PATCH":
            patch = await request.json()
            found["metadata"]["annotations"].update(patch["metadata"]["annotations"])
        return JSONResponse(found)


def test_the_jobs_of_a_project_have_a_namespace_of_their_own(tmp_path: Path) -> None:
    spaces = Spaces()
    other = replace(REQUEST, name="footplate-x-u2-1.0", project="my-project")
    with serve(spaces.app) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(
            PodSettings(image="i"),
            kubeconfig=tmp_path / "kubeconfig",
            namespaces={"my-project": "team-a", "a-third": "team-a"},
        )
        ours, theirs = engine.submit(REQUEST), engine.submit(other)
        found = {job.id: job.name for job in engine.list("footplate-x-")}
        cases = [(ours, ""), (ours, "my-project"), (theirs, ""), (theirs, "my-project")]
        assert [engine.may_be_of(*each) for each in cases] == [True, False, False, True]
        one = engine.find(theirs)
        assert engine.find(object_name(other.name)) is None
        engine.cancel(theirs)
        spaces.closed = "team-a"
        (left,) = engine.list("footplate-x-")
        spaces.closed = ""
        moved = KubernetesEngine(
            PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig", namespace="team-a"
        )
        same = moved.find(theirs)
        assert same is not None
        assert [same.id] == [job.id for job in moved.list("footplate-x-")]
    assert (ours, theirs) == (NAME, f"team-a/{object_name(other.name)}")
    assert found == {ours: REQUEST.name, theirs: other.name}
    assert one is not None
    assert (one.id, one.name) == (theirs, other.name)
    assert spaces.deleted == [("team-a", f"{JOB}={object_name(other.name)}")]
    pod = spaces.objects["team-a", "pods", f"{object_name(other.name)}-0"]
    variables = {each["name"]: each.get("value") for each in pod["spec"]["containers"][0]["env"]}
    assert variables["FOOTPLATE_JOB"] == theirs, "launchers report the engine's id"
    assert left.id == ours
    assert engine.oddities == (
        "the jobs of namespace team-a can't be listed: secrets is forbidden",
    )


def test_a_pod_of_a_refused_job_is_none_of_its_next_one(tmp_path: Path) -> None:
    """It was deleted with the Secret of its job, and takes its time to end."""
    spaces = Spaces()
    with serve(spaces.app) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        engine.submit(REQUEST)
        assert engine.submit(REQUEST) == NAME, "its answer may have been lost"
        del spaces.objects["default", "secrets", NAME]
        with pytest.raises(EngineUnavailable, match="of an earlier try"):
            engine.submit(REQUEST)
        assert engine.list("footplate-x-") == ()
        del spaces.objects["default", "pods", f"{NAME}-0"]
        assert engine.submit(REQUEST) == NAME
        assert [job.id for job in engine.list("footplate-x-")] == [NAME]


NAME = object_name(REQUEST.name)
FOREIGN = {"metadata": {"name": "x", "labels": {"app.kubernetes.io/managed-by": "footplate"}}}


def odd(**changes: object) -> dict[str, Any]:
    """The Secret of another job, with other metadata."""
    secret, _ = make_job(replace(REQUEST, name="footplate-x-u2-1.0"))
    secret["metadata"].update(changes)
    return secret


@pytest.mark.parametrize(
    ("kind", "found", "words"),
    [
        ("pods", FOREIGN, "Pod default/x has Footplate's label but no job: remove the label"),
        ("pods", {"metadata": {"name": "x"}}, "Pod default/x has"),
        ("secrets", FOREIGN, "Secret default/x has Footplate's label but no job: remove the label"),
        ("secrets", odd(name="copy"), "Secret default/copy is a copy of another job's"),
        ("secrets", odd(annotations={JOB: "footplate-x-u2-1.0"}), "how many Pods its job has"),
        (
            "secrets",
            odd(annotations={JOB: "footplate-x-u2-1.0", RANKS: "many"}),
            "annotation footplate.dev/ranks is 'many'",
        ),
    ],
)
def test_an_odd_object_is_said_and_does_not_hide_the_jobs(
    tmp_path: Path, kind: str, found: dict[str, Any], words: str
) -> None:
    server = Server()
    server.others[kind] = [found]
    with serve(server.app) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        (job,) = engine.list("footplate-x-")
        server.others[kind] = []
        said = engine.oddities
        engine.list("footplate-x-")
    assert (job.name, job.phase) == (REQUEST.name, JobPhase.RUNNING)
    (text,) = said
    assert words in text
    assert engine.oddities == ()


def test_a_secret_that_lost_its_annotations_says_nothing_of_its_job(tmp_path: Path) -> None:
    server = Server()
    server.secret["metadata"]["annotations"] = {}
    with serve(server.app) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        with pytest.raises(EngineUnavailable, match="has Footplate's label but no job"):
            engine.find(NAME)


@pytest.mark.parametrize("status", [{"conditions": 7}, {"conditions": [7]}, "Running"])
def test_the_job_of_a_pod_that_cannot_be_read_is_not_ended(tmp_path: Path, status: object) -> None:
    server = Server()
    server.pod["status"] = {"phase": "Pending", **status} if isinstance(status, dict) else status
    with serve(server.app) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        (job,) = engine.list("footplate-x-")
    assert (job.phase, job.cause, job.tasks[0].stuck) == (JobPhase.RUNNING, EndCause.UNKNOWN, True)
    assert engine.oddities == (job.tasks[0].reason,)
    assert f"can't read the state of Pod default/{NAME}-0" in job.tasks[0].reason


def test_the_secret_remembers_why_the_cluster_ended_a_pod(tmp_path: Path) -> None:
    spaces = Spaces()
    with serve(spaces.app) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        engine.submit(REQUEST)
        key = ("default", "pods", f"{NAME}-0")
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
        }
        spaces.objects[key]["status"] = {"phase": "Running", "conditions": [condition]}
        engine.list("footplate-x-")
        del spaces.objects[key]
        (listed,) = engine.list("footplate-x-")
        found = engine.find(NAME)
    assert found is not None
    assert listed.reason == found.reason == "Kubernetes preempted the replica's Pod"


def test_an_old_secret_that_cannot_be_deleted_is_said(tmp_path: Path) -> None:
    server = Server()
    server.pod["status"] = {"phase": "Succeeded"}
    with serve(server.app) as url:
        (tmp_path / "kubeconfig").write_text(kubeconfig(url))
        engine = KubernetesEngine(PodSettings(image="i"), kubeconfig=tmp_path / "kubeconfig")
        (job,) = engine.list("footplate-x-")
    assert job.phase is JobPhase.ENDED
    assert server.deleted == [NAME]
    assert engine.oddities == (
        f"Secret default/{NAME} of an old job can't be deleted: a finalizer says no",
    )
