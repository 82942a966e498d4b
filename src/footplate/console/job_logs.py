"""A job's lines, usage and metrics for the scripts of its page, and its lines as a file."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import Response, StreamingResponse

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.routing import Route

    from footplate.console.operations import Answer
    from footplate.console.site import Site, Visit

_PAGE = "2000"
_LINE_PARAMETERS = ("cursor", "at", "back", "limit", "replica", "attempt", "severity", "contains")


def job_log_routes(site: Site) -> list[Route]:
    return [
        site.page("/jobs/{name:path}/lines", _lines),
        site.page("/jobs/{name:path}/usage", _usage),
        site.page("/jobs/{name:path}/metrics", _metrics),
        site.page("/jobs/{name:path}/log.txt", _download),
    ]


async def _lines(visit: Visit) -> Response:
    given = {name: value for name in _LINE_PARAMETERS if (value := visit.parameter(name))}
    return _pass_on(visit, await _ask(visit, "lines", given))


async def _usage(visit: Visit) -> Response:
    return _pass_on(visit, await _ask(visit, "usage", {"points": "240"}))


async def _metrics(visit: Visit) -> Response:
    return _pass_on(visit, await _ask(visit, "metrics", {"points": "240"}))


async def _download(visit: Visit) -> Response:
    """Sends all lines as they are read; never holds the whole log in memory."""
    first = (await _ask(visit, "lines", {"limit": _PAGE})).document()
    headers = {
        "Content-Disposition": 'attachment; filename="log.txt"',
        "X-Content-Type-Options": "nosniff",
        "Cache-Control": "no-store",
    }
    return StreamingResponse(_texts(visit, first), headers=headers, media_type="text/plain")


async def _texts(visit: Visit, page: Any) -> AsyncIterator[str]:
    while True:
        for line in page["lines"]:
            yield f"{line['time']} {line['severity']} {line['replica']} {line['message']}\n"
        if not page["more"]:
            return
        page = (await _ask(visit, "lines", _after(page["cursor"]))).document()


def _after(cursor: int) -> dict[str, str]:
    return {"limit": _PAGE, "cursor": str(cursor)}


async def _ask(visit: Visit, what: str, query: dict[str, str]) -> Answer:
    name = visit.request.path_params["name"]
    return await visit.call("GET", f"/footplate/v1/{name}/{what}", query)


def _pass_on(visit: Visit, answer: Answer) -> Response:
    if answer.status != HTTPStatus.OK:
        raise answer.error()
    headers = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
    body = json.dumps(answer.document()).encode()
    return visit.site.compress(
        visit.request, Response(body, headers=headers, media_type="application/json")
    )
