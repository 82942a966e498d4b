"""Requests are counted by method, client and status; no client makes the counts grow for ever."""

from __future__ import annotations

import anyio
import httpx
from starlette.applications import Starlette
from starlette.middleware import Middleware

from footplate.api.client_names import Client
from footplate.api.json_route import Call, json_route
from footplate.api.request_counts import NO_ROUTE, CountRequests, Request, RequestCounts
from footplate.wire.json_text import JsonObject

JOB = "/v1/projects/{project}/jobs/{job}"
GCLOUD = {"user-agent": "gcloud/528.0.0"}


def answer(_call: Call) -> JsonObject:
    return {}


def test_counts_are_by_route_client_and_status() -> None:
    counts = RequestCounts()
    routes = [json_route(JOB, {"GET": answer}), json_route("/healthz", {"GET": answer})]
    counting = Middleware(CountRequests, counts=counts, routes=routes)
    app = Starlette(routes=routes, middleware=[counting])

    async def ask() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(
            transport=transport, base_url="http://footplate", headers=GCLOUD
        ) as client:
            await client.get("/v1/projects/a/jobs/1")
            await client.get("/v1/projects/b/jobs/2")
            await client.post("/v1/projects/b/jobs/2")
            await client.get("/v2/nothing")

    anyio.run(ask)
    gcloud = Client("gcloud", "528.0.0")
    assert counts.read() == {
        Request("GET", JOB, gcloud, 200): 2,
        Request("POST", JOB, gcloud, 405): 1,
        Request("GET", NO_ROUTE, gcloud, 404): 1,
    }


def test_versions_beyond_a_hundred_are_counted_together() -> None:
    counts = RequestCounts()
    for number in range(300):
        counts.add("GET", JOB, Client("curl", str(number)), 200)
    counts.add("GET", JOB, Client("curl", "7"), 200)
    found = counts.read()
    assert len(found) == 101
    assert found[Request("GET", JOB, Client("curl"), 200)] == 200
    assert found[Request("GET", JOB, Client("curl", "7"), 200)] == 2
