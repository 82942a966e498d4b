"""What a reader does with a job: cancel it, submit it again."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import Response

from footplate.console.formatting import job_url
from footplate.console.submissions import parent_of, request_of

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.console.site import Site, Visit

_MAX_ID = 128


def job_action_routes(site: Site) -> list[Route]:
    return [
        site.page("/jobs/{name:path}/cancel", _cancel, ("POST",)),
        site.page("/jobs/{name:path}/clone", _clone, ("POST",)),
    ]


async def _cancel(visit: Visit) -> Response:
    await visit.post(f"/v1/{visit.request.path_params['name']}:cancel")
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Trigger": "footplate:change"})


async def _clone(visit: Visit) -> Response:
    """Make a job of the same request, and go to its page."""
    job = await visit.get(f"/footplate/v1/{visit.request.path_params['name']}/details")
    suffix = f"_{secrets.token_hex(3)}"
    request = request_of(job, new_id=str(job["jobId"])[: _MAX_ID - len(suffix)] + suffix)
    parent, kind = parent_of(job), job["kind"]
    made = await visit.post(f"/v1/{parent}/{kind}", request)
    name = str(made.get("name") or f"{parent}/jobs/{made['jobId']}")
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Redirect": job_url(name)})
