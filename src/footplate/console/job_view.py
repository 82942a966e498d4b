"""One job: its state and why, its course, replicas, lines, usage, and how to submit it again."""

from __future__ import annotations

import json
import secrets
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from footplate.console.effective_spec import effective_values
from footplate.console.formatting import job_url
from footplate.console.forms import read_form
from footplate.console.job_files import job_file_routes
from footplate.console.operations import Answer
from footplate.console.site import Site, Visit
from footplate.console.submissions import as_gcloud, as_python, as_yaml, parent_of, request_of
from footplate.console.timeline import TERMINAL, make_timeline
from footplate.domain.errors import InvalidArgument, NotFound, ServiceError
from footplate.wire.json_text import JsonObject

# A job's lines, usage and metrics for the scripts of its page, and its lines as a file.

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
    return _pass_on(visit, await _ask_for_entries(visit, "lines", given))


async def _usage(visit: Visit) -> Response:
    return _pass_on(visit, await _ask_for_entries(visit, "usage", {"points": "240"}))


async def _metrics(visit: Visit) -> Response:
    return _pass_on(visit, await _ask_for_entries(visit, "metrics", {"points": "240"}))


async def _download(visit: Visit) -> Response:
    """Sends all lines as they are read; never holds the whole log in memory."""
    first = (await _ask_for_entries(visit, "lines", {"limit": _PAGE})).document()
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
        page = (await _ask_for_entries(visit, "lines", _after(page["cursor"]))).document()


def _after(cursor: int) -> dict[str, str]:
    return {"limit": _PAGE, "cursor": str(cursor)}


async def _ask_for_entries(visit: Visit, what: str, query: dict[str, str]) -> Answer:
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


# The texts that people write about a job: its labels, and a note.

_MAX_NOTES_BYTES = 65_536


def job_note_routes(site: Site) -> list[Route]:
    return [
        site.page("/jobs/{name:path}/notes", _show_notes),
        site.page("/jobs/{name:path}/notes", _save, ("POST",)),
    ]


async def _show_notes(visit: Visit) -> Response:
    job = await _read(visit)
    lines = "\n".join(f"{key}={value}" for key, value in (job.get("labels") or {}).items())
    return visit.render(
        "job_notes.html", job=job, labels=lines, note=job.get("note", ""), problem=""
    )


async def _save(visit: Visit) -> Response:
    job, fields = await _read(visit), await read_form(visit.request, _MAX_NOTES_BYTES)
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


_SHOWN_EVENTS = 200
_PAGE_OF_EVENTS = 1000
"""As many as the operation gives at once."""
_MAX_EVENTS = 10_000
_MAX_ATTEMPTS = 200
"""The latest, of which the log can be chosen."""


def job_routes(site: Site) -> list[Route]:
    """Returns the routes, most specific first, as a job's name may have any number of parts."""
    return [
        *job_log_routes(site),
        *job_file_routes(site),
        *job_action_routes(site),
        *job_note_routes(site),
        site.page("/jobs/{name:path}", _show),
    ]


async def _show(visit: Visit) -> Response:
    """Returns the whole page or, for htmx, what changes while a job runs; 204 if unchanged."""
    name = visit.request.path_params["name"]
    job: Any = await visit.get(f"/footplate/v1/{name}/details")
    ran = await _read_backing(visit, job)
    own_events = await _read_events(visit, name)
    events = own_events
    if ran is not None and ran is not job:
        behind = await _read_events(visit, str(ran["name"]))
        events = sorted([*own_events, *behind], key=lambda event: str(event["time"]))
    shells = await _read_shells(visit, ran)
    digest = sha256(repr((job, ran, len(events), shells)).encode()).hexdigest()[:16]
    if visit.is_fragment and visit.parameter("seen") == digest:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    context = {
        "job": job,
        "ran": ran,
        "events": events[-_SHOWN_EVENTS:],
        "omitted": max(0, len(events) - _SHOWN_EVENTS),
        "timeline": make_timeline(job, own_events, datetime.now(UTC)),
        "shells": shells,
        "digest": digest,
        "ended": job["state"] in TERMINAL,
        "attempts": _attempts(ran or job),
    }
    if visit.is_fragment:
        return visit.render("job_live.html", **context)
    return visit.render(
        "job.html",
        **context,
        replica_names=_replica_names(ran or job),
        effective=effective_values(job),
        gcloud=as_gcloud(job),
        python=as_python(job),
        yaml=as_yaml(request_of(job)),
    )


async def _read_backing(visit: Visit, job: Any) -> Any:
    """Returns the job that runs the program: a pipeline's, or ``job`` itself.

    Returns None if it doesn't exist yet, or was deleted.
    """
    if "backing" not in job:
        return job
    try:
        return await visit.get(f"/footplate/v1/{job['backing']}/details")
    except NotFound:
        return None


async def _read_shells(visit: Visit, job: Any) -> dict[str, str]:
    """Returns the addresses of shells by replica; none if the job has no shells now."""
    if job is None or not job["spec"]["webAccess"] or job["state"] in TERMINAL:
        return {}
    given: Any = await visit.get(f"/v1/{job['name']}")
    found: Any = given.get("webAccessUris") or given.get("trainingOutput", {}).get("webAccessUris")
    return {str(replica): urlsplit(str(uri)).path for replica, uri in (found or {}).items()}


async def _read_events(visit: Visit, name: str) -> list[Any]:
    """Returns the first _MAX_EVENTS events; reads them in pages."""
    found: list[Any] = []
    while len(found) < _MAX_EVENTS:
        query = {"after": str(found[-1]["number"])} if found else {}
        answer = await visit.call("GET", f"/footplate/v1/{name}/events", query)
        if answer.status != HTTPStatus.OK:
            raise answer.error()
        page = [json.loads(line) for line in answer.body.splitlines() if line]
        found += page
        if len(page) < _PAGE_OF_EVENTS:
            break
    return found


def _replica_names(job: Any) -> list[str]:
    return [str(replica["name"]) for replica in job["replicas"]]


def _attempts(job: Any) -> range:
    last = int(job["attempt"])
    return range(max(1, last - _MAX_ATTEMPTS + 1), last + 1)


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
