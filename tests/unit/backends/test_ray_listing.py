"""Lists of Ray's jobs with odd records, and how their records go."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route

from footplate.backends.engine.engine import (
    EngineUnavailable,
    JobPhase,
    JobRequest,
    LauncherRequest,
)
from footplate.backends.ray.engine import KEEP_S, RayEngine
from footplate.backends.ray.job_package import RaySettings
from footplate.backends.ray.job_states import NO_ROOM
from footplate.ports.backend import EndCause
from tests.support.http_server import serve

PREFIX = "footplate-x-"
OURS = {"submission_id": "footplate-x-u1-1.0", "status": "RUNNING", "entrypoint": "exec python"}


class Dashboard:
    """Has ``jobs``, whose ids it takes once; ``token`` is needed."""

    def __init__(self) -> None:
        self.jobs: list[Any] = [OURS]
        self.groups: list[Any] = []
        self.token = ""
        self.refusal = ""
        self.deleted: list[str] = []
        self.submitted: list[dict[str, Any]] = []
        self.asked: list[str] = []
        self.app = Starlette(
            routes=[
                Route("/api/jobs/", self._list),
                Route("/api/jobs/", self._submit, methods=["POST"]),
                Route("/api/jobs/{id}", self._delete, methods=["DELETE"]),
                Route("/api/jobs/{id}", self._find),
                Route("/api/packages/gcs/{name}", self._take, methods=["PUT"]),
                Route("/api/v0/placement_groups", self._groups),
            ]
        )

    async def _list(self, request: Request) -> Response:
        if self.token and request.headers.get("authorization") != f"Bearer {self.token}":
            return PlainTextResponse("sign in", 401)
        return JSONResponse(self.jobs)

    async def _submit(self, request: Request) -> Response:
        body = await request.json()
        if any(job["submission_id"] == body["submission_id"] for job in self.jobs):
            return PlainTextResponse("Job already exists", 400)
        self.submitted.append(body)
        return JSONResponse({})

    async def _find(self, request: Request) -> Response:
        job_id = request.path_params["id"]
        return JSONResponse(next(job for job in self.jobs if job["submission_id"] == job_id))

    async def _delete(self, request: Request) -> Response:
        job_id = request.path_params["id"]
        self.deleted.append(job_id)
        if not self.refusal:
            self.jobs = [job for job in self.jobs if job["submission_id"] != job_id]
        return PlainTextResponse(self.refusal, 500 if self.refusal else 200)

    async def _take(self, _: Request) -> Response:
        return JSONResponse({})

    async def _groups(self, request: Request) -> Response:
        self.asked.append(request.url.path)
        return JSONResponse({"data": {"result": {"result": self.groups}}})


@pytest.mark.parametrize(
    ("odd", "words"),
    [
        (7, "Ray's list of jobs has an entry that is no job: '7'"),
        (None, "Ray's list of jobs has an entry that is no job: 'None'"),
        ({"submission_id": f"{PREFIX}u2"}, f"job {PREFIX}u2 of Ray has the status 'None'"),
        ({**OURS, "submission_id": f"{PREFIX}\x7f"}, "has an id that is none of this server's"),
        ({**OURS, "submission_id": f"{PREFIX}/../x"}, "has an id that is none of this server's"),
        ({"submission_id": f"{PREFIX}u2", "status": []}, "of Ray has the status '[]'"),
    ],
)
def test_an_odd_record_is_said_and_does_not_hide_the_jobs(odd: object, words: str) -> None:
    dashboard = Dashboard()
    dashboard.jobs = [odd, {"submission_id": None, "type": "DRIVER"}, {"job_id": "01"}, OURS]
    with serve(dashboard.app) as url:
        engine = RayEngine(RaySettings(url))
        (job,) = engine.list(PREFIX)
    assert (job.id, job.phase) == (OURS["submission_id"], JobPhase.RUNNING)
    (said,) = engine.oddities
    assert words in said


@pytest.mark.parametrize("bundles", [None, 7, [], [None], [{"unit_resources": {"CPU": "x"}}]])
def test_an_odd_placement_group_does_not_hide_the_jobs(bundles: object) -> None:
    dashboard = Dashboard()
    dashboard.jobs = [{**OURS, "entrypoint": "python driver.py"}]
    group = {"name": OURS["submission_id"], "state": "PENDING", "bundles": bundles}
    dashboard.groups = [7, {"state": "PENDING"}, group]
    with serve(dashboard.app) as url:
        (job,) = RayEngine(RaySettings(url)).list(PREFIX)
    assert job.phase is JobPhase.WAITING
    assert job.reason.startswith("Ray has no free resources for")


def test_groups_are_only_asked_for_where_a_driver_runs() -> None:
    dashboard = Dashboard()
    with serve(dashboard.app) as url:
        RayEngine(RaySettings(url)).list(PREFIX)
    assert dashboard.asked == []


def test_records_of_ended_jobs_go_after_a_while() -> None:
    dashboard, now_s = Dashboard(), [1000.0]
    ended = {**OURS, "submission_id": f"{PREFIX}u2", "status": "SUCCEEDED"}
    others = {**ended, "submission_id": "footplate-y-u1"}
    check = {**ended, "submission_id": "footplate-check-1"}
    dashboard.jobs = [OURS, ended, others, check]
    with serve(dashboard.app) as url:
        engine = RayEngine(RaySettings(url), lambda: now_s[0])
        for step_s in (0.0, KEEP_S - 1):
            now_s[0] += step_s
            engine.list(PREFIX)
        assert dashboard.deleted == []
        now_s[0] += 2
        dashboard.refusal = "no"
        assert len(engine.list(PREFIX)) == 2
    assert dashboard.deleted == [ended["submission_id"], check["submission_id"]]
    assert engine.oddities[0] == f"the ended job {PREFIX}u2 can't be deleted in Ray: no"


def test_a_proxy_with_a_path_gets_the_token(tmp_path: Path) -> None:
    dashboard, file = Dashboard(), tmp_path / "token"
    dashboard.token = "secret-1"
    file.write_text("secret-1\n")
    with serve(Starlette(routes=[Mount("/ray/prod", dashboard.app)])) as url:
        engine = RayEngine(RaySettings(f"{url}/ray/prod", token_file=str(file)))
        assert len(engine.list(PREFIX)) == 1
        file.write_text("secret-2\n")
        with pytest.raises(EngineUnavailable, match=rf"HTTP 401\): see {file}"):
            engine.list(PREFIX)
        file.unlink()
        with pytest.raises(EngineUnavailable, match="can't be read: No such file"):
            engine.list(PREFIX)
        with pytest.raises(EngineUnavailable, match="set token_file of the region"):
            RayEngine(RaySettings(f"{url}/ray/prod")).list(PREFIX)


def test_a_job_that_ray_let_wait_too_long_is_submitted_again() -> None:
    dashboard = Dashboard()
    timeout = {"status": "FAILED", "error_type": "JOB_SUPERVISOR_ACTOR_START_TIMEOUT"}
    dashboard.jobs = [{**OURS, **timeout, "message": "Job supervisor actor failed to start"}]
    request = JobRequest(OURS["submission_id"], "us-east1", (LauncherRequest("r"),), b"print()")
    with serve(dashboard.app) as url:
        engine = RayEngine(RaySettings(url))
        (job,) = engine.list(PREFIX)
        assert (job.phase, job.refused, job.expired) == (JobPhase.ENDED, True, True)
        assert job.cause is EndCause.UNKNOWN
        assert job.reason == NO_ROOM
        assert engine.submit(request) == job.id
        assert dashboard.deleted == [job.id]
        assert len(dashboard.submitted) == 1
        dashboard.jobs = [OURS]
        engine.submit(request)
    assert dashboard.deleted == [job.id], "one that runs is left alone"
    assert len(dashboard.submitted) == 1
