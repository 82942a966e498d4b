"""The texts that people write about a job: its labels, and a note."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from starlette.responses import RedirectResponse

from footplate.console.formatting import job_url
from footplate.console.forms import read_form
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.routing import Route

    from footplate.console.site import Site, Visit
    from footplate.wire.json_text import JsonObject

_MAX_FORM_BYTES = 65_536


def job_note_routes(site: Site) -> list[Route]:
    return [
        site.page("/jobs/{name:path}/notes", _show),
        site.page("/jobs/{name:path}/notes", _save, ("POST",)),
    ]


async def _show(visit: Visit) -> Response:
    job = await _read(visit)
    lines = "\n".join(f"{key}={value}" for key, value in (job.get("labels") or {}).items())
    return visit.render(
        "job_notes.html", job=job, labels=lines, note=job.get("note", ""), problem=""
    )


async def _save(visit: Visit) -> Response:
    job, fields = await _read(visit), await read_form(visit.request, _MAX_FORM_BYTES)
    lines, note = (fields.get(name, "").replace("\r\n", "\n") for name in ("labels", "note"))
    try:
        change: JsonObject = {"labels": {**read_labels(lines)}, "note": note.strip()}
        (await visit.call("PATCH", f"/footplate/v1/{job['name']}", {}, change)).document()
    except InvalidArgument as error:
        status = int(error.http_status)
        return visit.render(
            "job_notes.html", status, job=job, labels=lines, note=note, problem=error.message
        )
    return RedirectResponse(job_url(str(job["name"])), HTTPStatus.SEE_OTHER)


def read_labels(text: str) -> dict[str, str]:
    """Returns the labels in lines of ``key=value``. Raises InvalidArgument for a repeated key."""
    found: dict[str, str] = {}
    for line in filter(None, map(str.strip, text.split("\n"))):
        key, _, value = (part.strip() for part in line.partition("="))
        if key in found:
            raise InvalidArgument(f"labels: {key[:60]!r} is given twice; allowed: once")
        found[key] = value
    return found


async def _read(visit: Visit) -> Any:
    return await visit.get(f"/footplate/v1/{visit.request.path_params['name']}/details")
