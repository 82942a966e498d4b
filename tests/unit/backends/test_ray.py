"""Jobs of Ray as its API has them: what is submitted, and what their states mean."""

from __future__ import annotations

import ast
import io
import json
import shlex
import zipfile
from dataclasses import replace
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from footplate.backends.engine.engine import (
    EngineUnavailable,
    JobPhase,
    JobRequest,
    LauncherRequest,
    NodeState,
)
from footplate.backends.ray import engine as ray_engine
from footplate.backends.ray import health_checks
from footplate.backends.ray.engine import RayEngine
from footplate.backends.ray.job_package import RaySettings, bundle, describe, pack
from footplate.backends.ray.job_states import see_job
from footplate.ports.backend import EndCause
from footplate.protocol.launcher import TITLE_ROOM
from footplate.protocol.site_variables import SITE_VARIABLES
from tests.support.http_server import serve

CHIEF = LauncherRequest("master-replica-0", "n1-standard-8", 8, 30_000, "NVIDIA_TESLA_T4", 2)
WORKER = LauncherRequest("worker-replica-0", "e2-standard-4", 4, 16_000)
REQUEST = JobRequest("footplate-x-u1-1.0", "us-east1", (CHIEF, WORKER), b"print()")
SETTINGS = RaySettings(
    "http://127.0.0.1:8265",
    strategy="SPREAD",
    machines={"n1-standard-8": {"pool_large": 1}},
    accelerators={"NVIDIA_TESLA_T4": "accelerator_type:T4"},
)


def test_a_job_is_a_driver_with_its_program() -> None:
    with zipfile.ZipFile(io.BytesIO(pack(SETTINGS, REQUEST))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    assert files["program.py"] == REQUEST.program
    job = json.loads(files["job.json"])
    assert (job["name"], job["strategy"], len(job["bundles"])) == (REQUEST.name, "SPREAD", 2)
    for name in ("driver.py", "alone.py"):
        ast.parse(files[name], feature_version=(3, 9))
    assert describe(SETTINGS, REQUEST, "x.zip") == {
        "entrypoint": "python driver.py",
        "submission_id": REQUEST.name,
        "runtime_env": {"working_dir": "gcs://x.zip"},
        "metadata": {"started_by": "footplate"},
    }


def test_the_job_of_one_replica_is_its_launcher() -> None:
    body = describe(SETTINGS, replace(REQUEST, launchers=(CHIEF,)), "x.zip")
    assert body["entrypoint"] == f"exec python -I -S alone.py {REQUEST.name} '{TITLE_ROOM}'"
    assert {name: body[name] for name in body if name.startswith("entrypoint_")} == {
        "entrypoint_num_cpus": 8,
        "entrypoint_num_gpus": 2,
        "entrypoint_memory": 30_000 << 20,
        "entrypoint_resources": {"accelerator_type:T4": 2, "pool_large": 1},
    }
    small = replace(SETTINGS, reserve=False)
    body = describe(small, replace(REQUEST, launchers=(WORKER,)), "x.zip")
    assert body["entrypoint_num_cpus"] == 0.001, "or Ray runs it on the head"
    assert "entrypoint_resources" not in body


def test_launchers_get_the_variables_of_the_region() -> None:
    settings = replace(SETTINGS, env={"NCCL_DEBUG": "INFO", "SITE": "a b"})
    with zipfile.ZipFile(io.BytesIO(pack(settings, REQUEST))) as archive:
        found = json.loads(archive.read("job.json"))["variables"]
    assert found == {"NCCL_DEBUG": "INFO", "SITE": "a b", SITE_VARIABLES: "NCCL_DEBUG SITE"}


def test_the_same_job_is_the_same_package() -> None:
    assert pack(SETTINGS, REQUEST) == pack(SETTINGS, REQUEST)


def test_bundles_reserve_what_the_machine_has() -> None:
    assert bundle(SETTINGS, CHIEF) == {
        "CPU": 8,
        "memory": 30_000 << 20,
        "GPU": 2,
        "accelerator_type:T4": 2,
        "pool_large": 1,
    }
    assert bundle(SETTINGS, WORKER) == {"CPU": 4, "memory": 16_000 << 20}


def test_a_region_may_reserve_nothing_but_accelerators() -> None:
    settings = RaySettings("http://127.0.0.1:8265", reserve=False)
    assert bundle(settings, CHIEF) == {"GPU": 2}
    assert bundle(settings, WORKER) == {"CPU": 0.001}, "Ray takes no empty bundle"


def job(status: str, message: str = "") -> dict[str, Any]:
    return {"submission_id": REQUEST.name, "status": status, "message": message}


@pytest.mark.parametrize(
    ("status", "message", "phase", "reason"),
    [
        ("PENDING", "", JobPhase.WAITING, "the replica's job waits for Ray"),
        ("PENDING", "a\nWaiting for resources.", JobPhase.WAITING, "Waiting for resources."),
        ("PENDING", "x" * 501, JobPhase.WAITING, "x" * 500),
        ("RUNNING", "Job is running.", JobPhase.RUNNING, ""),
        ("STOPPED", "", JobPhase.ENDED, "the replica's job was stopped in Ray"),
        ("SUCCEEDED", "", JobPhase.ENDED, "the replica's launcher has ended"),
        ("FAILED", "logs\nno Ray", JobPhase.ENDED, "the replica's job failed in Ray: no Ray"),
        ("WHATEVER", "", JobPhase.WAITING, "the replica's job waits for Ray"),
    ],
)
def test_states_of_jobs(status: str, message: str, phase: JobPhase, reason: str) -> None:
    seen = see_job(job(status, message), {})
    assert (seen.phase, seen.reason) == (phase, reason)
    assert (seen.cause is EndCause.CANCELLED) == (status == "STOPPED")


def test_a_job_that_ray_ends_for_want_of_memory() -> None:
    message = "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low"
    assert see_job(job("FAILED", f"{message}\nmore"), {}).cause is EndCause.OUT_OF_MEMORY
    assert see_job(job("SUCCEEDED", message), {}).cause is EndCause.UNKNOWN


def test_a_driver_whose_gang_has_no_room_waits() -> None:
    group = {"bundles": [{"unit_resources": {"CPU": 8.0, "memory": 1.0}}] * 3}
    seen = see_job(job("RUNNING"), {REQUEST.name: group})
    assert seen.phase is JobPhase.WAITING
    assert seen.reason == "Ray has no free resources for 3 times {CPU 8, memory 1} now"


@pytest.mark.parametrize(
    ("values", "seen_after_s"), [((5000, 3000, 10_000, 5), 65), ((1000, 1000, 2000, 3), 9)]
)
def test_how_soon_a_node_that_is_cut_off_is_seen(
    values: tuple[int, ...], seen_after_s: int
) -> None:
    said = dict(zip(health_checks.NAMES, values, strict=True))
    found = health_checks.read(f"a line\nfootplate-health-checks {json.dumps(said)}\n")
    assert found is not None
    assert found.fact == f"Ray notices a disconnected node after about {seen_after_s} s"
    assert ("RAY_health_check_timeout_ms=2000" in (found.problem or "")) == (seen_after_s > 20)


@pytest.mark.parametrize(
    "output",
    ["", "Traceback", "footplate-health-checks {", 'footplate-health-checks {"a": 1}'],
)
def test_output_that_does_not_say_it(output: str) -> None:
    assert health_checks.read(output) is None


class Head:
    """Answers as a dashboard whose check job prints ``output``; ``jobs`` are those that it has."""

    def __init__(self, output: str) -> None:
        self.output = output
        self.session = "session_1"
        self.status = "SUCCEEDED"
        self.logs_answer: object = None
        """What is answered in place of the output."""
        self.given: dict[str, Any] = {}
        self.jobs: dict[str, str] = {}
        self.submitted: list[str] = []
        self.app = Starlette(
            routes=[
                Route("/api/version", self._version),
                Route("/api/v0/nodes", self._nodes),
                Route("/api/jobs/", self._submit, methods=["POST"]),
                Route("/api/jobs/{id}", self._job, methods=["GET", "DELETE"]),
                Route("/api/jobs/{id}/logs", self._logs),
            ]
        )

    async def _version(self, _: Request) -> JSONResponse:
        return JSONResponse({"ray_version": "2.60.0", "session_name": self.session})

    async def _nodes(self, _: Request) -> JSONResponse:
        node = {"state": "ALIVE", "node_ip": "10.0.0.1", "resources_total": {"CPU": 4.0}}
        nodes = [node, {"state": "DEAD", "node_ip": "10.0.0.1"}]
        nodes += [{"state": "DEAD", "node_ip": "10.0.0.2"}]
        return JSONResponse({"data": {"result": {"result": nodes}}})

    async def _submit(self, request: Request) -> JSONResponse:
        given = await request.json()
        self.submitted.append(given["submission_id"])
        self.given = given
        self.jobs[given["submission_id"]] = given["entrypoint"]
        return JSONResponse({"submission_id": given["submission_id"]})

    async def _job(self, request: Request) -> JSONResponse:
        if request.method == "DELETE":
            del self.jobs[request.path_params["id"]]
        return JSONResponse({"status": self.status})

    async def _logs(self, request: Request) -> JSONResponse:
        assert request.path_params["id"] in self.jobs
        return JSONResponse(self.logs_answer or {"logs": self.output})


def test_a_check_asks_each_head_once_for_its_health_checks() -> None:
    said = dict(zip(health_checks.NAMES, (5000, 3000, 10_000, 5), strict=True))
    head = Head(f"footplate-health-checks {json.dumps(said)}\n")
    with serve(head.app) as url:
        engine = RayEngine(RaySettings(url))
        first, again = engine.check(), engine.check()
        assert len(head.submitted) == 1
        head.session = "session_2"
        engine.check()
    assert first == again
    assert first.reachable
    assert "after about 65 s" in first.facts[-1]
    assert "start the head with RAY_health_check" in first.problems[0]
    assert len(head.submitted) == 2
    assert head.jobs == {}, "nothing of it stays"


def test_a_node_that_ray_calls_dead_only_does_not_answer() -> None:
    """Its raylet ended or was cut off; what runs there may go on."""
    with serve(Head("").app) as url:
        states = tuple(RayEngine(RaySettings(url)).node_states(["10.0.0.1", "10.0.0.2"]))
    assert states == (NodeState("10.0.0.1"), NodeState("10.0.0.2", silent=True))


@pytest.mark.parametrize("text", ["<html>sign in</html>", "[]", "7", '{"jobs": 1}', "[1]", "[{}]"])
def test_an_answer_that_is_not_rays_is_silence(text: str) -> None:
    """As of a proxy in front of the dashboard, which asks users to sign in."""
    with serve(PlainTextResponse(text)) as url:
        engine = RayEngine(RaySettings(url))
        assert not engine.check().reachable
        with pytest.raises(EngineUnavailable, match="answers with"):
            engine.find("footplate-x-u1-1.0")
        if not text.startswith("["):
            with pytest.raises(EngineUnavailable, match="answers with"):
                engine.list("")


def test_a_probe_runs_on_a_node_with_what_jobs_have_there() -> None:
    head, program = Head("found\n"), b"print('$HOME `id`')"
    settings = replace(SETTINGS, env={"NCCL_DEBUG": "INFO"})
    with serve(head.app) as url:
        engine = RayEngine(replace(settings, address=url))
        assert engine.run_on_node(program, CHIEF) == "found\n"
    assert shlex.split(head.given["entrypoint"])[1:] == ["-c", program.decode()]
    assert head.given["entrypoint_num_cpus"] > 0, "without any it runs on the head"
    assert head.given["entrypoint_num_gpus"] == 2
    assert head.given["entrypoint_resources"] == {"accelerator_type:T4": 2}
    assert head.given["runtime_env"]["env_vars"]["NCCL_DEBUG"] == "INFO"
    assert head.jobs == {}, "nothing of it stays"


def test_a_probe_that_waits_for_room_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_engine, "PROBE_S", 0.3)
    head = Head("")
    head.status = "PENDING"
    with serve(head.app) as url, pytest.raises(EngineUnavailable, match="did not start within"):
        RayEngine(RaySettings(url)).run_on_node(b"", WORKER)
    assert head.jobs == {}


def test_a_probe_whose_output_cannot_be_read_leaves_no_record() -> None:
    head = Head("")
    head.logs_answer = ["of a proxy"]
    with serve(head.app) as url, pytest.raises(EngineUnavailable, match="answers with"):
        RayEngine(RaySettings(url)).run_on_node(b"", WORKER)
    assert head.jobs == {}


def test_a_check_goes_on_where_they_can_not_be_read() -> None:
    head = Head("Traceback: no Ray\n")
    with serve(head.app) as url:
        engine = RayEngine(RaySettings(url))
        found = engine.check()
        engine.check()
    assert "can't tell how soon" in found.facts[-1]
    assert found.problems == ()
    assert len(head.submitted) == 1
