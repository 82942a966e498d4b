"""The actions on one job: cancel it, see where its code stands, submit it again."""

from __future__ import annotations

import secrets
from http import HTTPStatus
from typing import TYPE_CHECKING

from starlette.responses import RedirectResponse, Response

from footplate.console.formatting import job_url
from footplate.console.forms import read_form
from footplate.console.submissions import as_yaml, parent_of, request_of
from footplate.domain.errors import ServiceError

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.console.site import Site, Visit
    from footplate.wire.json_text import JsonObject

_MAX_ID = 128
_MAX_FORM_BYTES = 4096


def job_action_routes(site: Site) -> list[Route]:
    return [
        site.page("/jobs/{name:path}/cancel", _cancel, ("POST",)),
        site.page("/jobs/{name:path}/stacks", _stacks, ("POST",)),
        site.page("/jobs/{name:path}/again", _again),
        site.page("/jobs/{name:path}/again", _submit_again, ("POST",)),
    ]


async def _cancel(visit: Visit) -> Response:
    await visit.post(f"/v1/{visit.request.path_params['name']}:cancel")
    return Response(status_code=HTTPStatus.NO_CONTENT, headers={"HX-Trigger": "footplate:change"})


async def _stacks(visit: Visit) -> Response:
    """Shows where the processes of a running job stand; this takes seconds."""
    report = await visit.post(f"/footplate/v1/{visit.request.path_params['name']}:stacks")
    return visit.render("job_stacks.html", report=report)


async def _again(visit: Visit) -> Response:
    """Shows the request to submit again, and a button that submits it."""
    job = await visit.get(f"/footplate/v1/{visit.request.path_params['name']}/details")
    suffix = f"_{secrets.token_hex(3)}"
    return _ask(visit, job, str(job["jobId"])[: _MAX_ID - len(suffix)] + suffix)


async def _submit_again(visit: Visit) -> Response:
    """Creates a job from the same request, and redirects to its page."""
    job = await visit.get(f"/footplate/v1/{visit.request.path_params['name']}/details")
    new_id = (await read_form(visit.request, _MAX_FORM_BYTES)).get("jobId", "").strip()
    parent, kind = parent_of(job), job["kind"]
    try:
        made = await visit.post(f"/v1/{parent}/{kind}", request_of(job, new_id=new_id))
    except ServiceError as error:
        return _ask(visit, job, new_id, error)
    name = str(made.get("name") or f"{parent}/jobs/{made['jobId']}")
    return RedirectResponse(job_url(name), HTTPStatus.SEE_OTHER)


def _ask(visit: Visit, job: JsonObject, new_id: str, error: ServiceError | None = None) -> Response:
    return visit.render(
        "job_again.html",
        int(HTTPStatus.OK if error is None else error.http_status),
        job=job,
        new_id=new_id,
        text=as_yaml(request_of(job, new_id=new_id)),
        problem="" if error is None else error.message,
    )
