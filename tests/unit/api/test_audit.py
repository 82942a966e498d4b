"""Which calls are recorded, of what, and by whom."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest
from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from footplate.api.app import create_app
from footplate.api.audit import Audit, Change, name_made, read_change
from footplate.api.footplate_v1.audit import audit_routes
from footplate.api.json_route import Call, json_route
from footplate.api.security import Access
from footplate.domain.errors import NotFound
from footplate.logs.audit import FileAuditLog
from footplate.wire.json_text import JsonObject
from footplate.wire.scope_keys import BY_CONSOLE, PROGRAM

V1 = "/v1/projects/{project}/locations/{location}"
PLACE = "projects/p/locations/l"
NOW = datetime(2026, 1, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    ("method", "route", "path", "expected"),
    [
        (
            "POST",
            "/v1/projects/{project}/jobs",
            "/v1/projects/p/jobs",
            Change("create", "projects/p/jobs", made=True),
        ),
        (
            "POST",
            "/v1/projects/{project}/jobs/{job}:cancel",
            "/v1/projects/p/jobs/a:cancel",
            Change("cancel", "projects/p/jobs/a"),
        ),
        (
            "DELETE",
            f"{V1}/customJobs/{{job}}",
            f"/v1beta1/{PLACE}/customJobs/7",
            Change("delete", f"{PLACE}/customJobs/7"),
        ),
        (
            "POST",
            f"{V1}/models:upload",
            f"/v1/{PLACE}/models:upload",
            Change("upload", f"{PLACE}/models", made=True),
        ),
        (
            "POST",
            f"{V1}/datasets/{{datasets}}:import",
            f"/v1/{PLACE}/datasets/7:import",
            Change("import", f"{PLACE}/datasets/7"),
        ),
        (
            "PATCH",
            "/footplate/v1/projects/{project}/locations/{region}/quota",
            f"/footplate/v1/{PLACE}/quota",
            Change("update", f"{PLACE}/quota"),
        ),
        (
            "DELETE",
            "/footplate/v1/projects/{project}/jobs/{job_id}",
            "/footplate/v1/projects/p/jobs/a",
            Change("delete", "projects/p/jobs/a"),
        ),
        ("POST", "/footplate/v1/down", "/footplate/v1/down", Change("down", "")),
        ("POST", "/storage/v1/b", "/storage/v1/b", Change("create", "buckets", made=True)),
        (
            "DELETE",
            "/storage/v1/b/{bucket}",
            "/storage/v1/b/data",
            Change("delete", "buckets/data"),
        ),
        ("PATCH", "/storage/v1/b/{bucket}", "/storage/v1/b/data", None),
        ("POST", f"{V1}/customJobs:validate", f"/v1/{PLACE}/customJobs:validate", None),
        ("POST", f"{V1}/studies/{{study}}/trials", f"/v1/{PLACE}/studies/1/trials", None),
        (
            "POST",
            f"{V1}/studies/{{study}}/operations/{{operation}}:cancel",
            f"/v1/{PLACE}/studies/1/operations/2:cancel",
            None,
        ),
        ("POST", "/replica/v1/reports", "/replica/v1/reports", None),
        ("POST", "/jobs/{name:path}/cancel", "/jobs/projects/p/jobs/a/cancel", None),
        ("POST", "", "/nothing", None),
    ],
)
def test_what_a_call_changes(method: str, route: str, path: str, expected: Change | None) -> None:
    assert read_change(method, route, path) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ({"name": f"{PLACE}/customJobs/8"}, f"{PLACE}/customJobs/8"),
        ({"name": f"{PLACE}/models/1/operations/2"}, f"{PLACE}/models/1"),
        ({"jobId": "train"}, "kind/train"),
        ({"name": "data"}, "kind/data"),
        ({}, "kind"),
        ([], "kind"),
    ],
)
def test_what_is_made_is_named_by_the_answer(answer: object, expected: str) -> None:
    assert name_made("kind", json.dumps(answer).encode()) == expected
    assert name_made("kind", b"{") == "kind"


class _From:
    """Marks calls, as the console and the check of programs do."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        marks = dict(scope["headers"])
        added: dict[str, object] = {}
        if b"x-console" in marks:
            added[BY_CONSOLE] = True
        if b"x-job" in marks:
            added[PROGRAM] = marks[b"x-job"].decode()
        await self._app({**scope, **added}, receive, send)


def test_calls_that_succeed_are_listed_with_their_callers(tmp_path: Path) -> None:
    log = FileAuditLog(tmp_path / "audit")

    def make(call: Call) -> JsonObject:
        return {"jobId": call.body()["jobId"]}

    def refuse(_call: Call) -> JsonObject:
        raise NotFound("no such job")

    routes = [
        json_route("/v1/projects/{project}/jobs", {"POST": make, "GET": make}),
        json_route("/v1/projects/{project}/jobs/{job}:cancel", {"POST": refuse}),
        *audit_routes(log),
    ]
    audit = Middleware(Audit, log=log, routes=routes, token=False, now=lambda: NOW)
    app = create_app(routes, Access(), inner=[Middleware(_From), audit])
    pages: list[Any] = []

    async def call() -> None:
        transport = httpx.ASGITransport(app, client=("10.0.0.9", 5))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            for job, headers in (
                ("a", {"user-agent": "curl/8"}),
                ("b", {"x-console": "1", "user-agent": "Mozilla/5.0"}),
                ("c", {"x-job": "projects/p/jobs/a"}),
            ):
                made = await client.post(
                    "/v1/projects/p/jobs", json={"jobId": job}, headers=headers
                )
                assert made.status_code == 200
            refused = await client.post("/v1/projects/p/jobs/a:cancel")
            assert refused.status_code == 404
            token = ""
            for _ in range(2):
                query = {"pageSize": "2", "pageToken": token}
                answer = await client.get("/footplate/v1/audit", params=query)
                pages.append(answer.raise_for_status().json())
                token = str(pages[-1].get("nextPageToken", ""))
            assert (await client.get("/footplate/v1/audit?pageToken=x")).status_code == 400

    anyio.run(call)
    newest, oldest = pages
    assert "nextPageToken" not in oldest
    common = {"time": "2026-01-02T00:00:00.000000Z", "action": "create", "address": "10.0.0.9"}
    first, second = newest["entries"]
    assert (first["by"], first["job"]) == ("program", "projects/p/jobs/a")
    assert second == {
        **common,
        "resource": "projects/p/jobs/b",
        "by": "console",
        "client": "browser",
    }
    assert oldest["entries"] == [
        {**common, "resource": "projects/p/jobs/a", "by": "anyone", "client": "curl"}
    ]
