"""The actions on several jobs at once: compare them, delete them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse

from footplate.console.comparison import compare
from footplate.console.timeline import TERMINAL
from footplate.domain.errors import InvalidArgument, NotFound, ServiceError
from footplate.domain.names import parse_job_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.responses import Response
    from starlette.routing import Route

    from footplate.console.site import Site, Visit

_MOST_DELETED = 500
_MOST_COMPARED = 5
_MAX_FORM_BYTES = 200_000


@dataclass(frozen=True)
class Chosen:
    """A job to delete. ``problem`` says why it can't be, or wasn't, deleted; '' if it can."""

    name: str
    title: str
    state: str
    problem: str = ""


def job_choice_routes(site: Site) -> list[Route]:
    """Returns the routes; they must precede single jobs, whose names have many parts."""
    return [
        site.page("/jobs/compare", _compare),
        site.page("/jobs/delete", _ask),
        site.page("/jobs/delete", _delete, ("POST",)),
    ]


async def _compare(visit: Visit) -> Response:
    names = _names(visit)
    if not 2 <= len(names) <= _MOST_COMPARED:
        raise InvalidArgument(
            f"{len(names)} jobs chosen; choose 2 to {_MOST_COMPARED} jobs to compare in the "
            "list of jobs"
        )
    paths = [f"/footplate/v1/{name}" for name in names]
    jobs: list[Any] = await asyncio.gather(*(visit.get(f"{path}/details") for path in paths))
    metrics = await asyncio.gather(*(_metrics(visit, path) for path in paths))
    return visit.render("compare.html", jobs=jobs, comparison=compare(jobs, metrics))


async def _metrics(visit: Visit, path: str) -> list[Any]:
    """Returns a job's metrics; none for a job without any, such as a search."""
    try:
        found: Any = await visit.get(f"{path}/metrics", {"points": "2"})
    except ServiceError:
        return []
    return list(found["series"])


async def _ask(visit: Visit) -> Response:
    return _show(visit, await asyncio.gather(*(_look(visit, name) for name in _names(visit))))


async def _look(visit: Visit, name: str) -> Chosen:
    try:
        job: Any = await visit.get(f"/footplate/v1/{name}/details")
    except ServiceError as error:
        return Chosen(name, name, "", error.message)
    title = str(job["displayName"] or job["jobId"])
    problem = "" if job["state"] in TERMINAL else "The job has not ended: cancel the job first."
    return Chosen(name, title, str(job["state"]), problem)


async def _delete(visit: Visit) -> Response:
    """Deletes the jobs one after the other; shows those that couldn't be deleted, or the list."""
    fields = parse_qs((await _body(visit)).decode("utf-8", "replace"))
    left: list[Chosen] = []
    for name in fields.get("job", [])[:_MOST_DELETED]:
        try:
            path = f"/footplate/v1/{parse_job_name(name)}"
            (await visit.call("DELETE", path)).document()
        except NotFound:
            continue
        except ServiceError as error:
            left.append(Chosen(name, name, "", error.message))
    if left:
        return _show(visit, left, HTTPStatus.CONFLICT)
    return RedirectResponse("/jobs", HTTPStatus.SEE_OTHER)


async def _body(visit: Visit) -> bytes:
    raw = b""
    async for chunk in visit.request.stream():
        raw += chunk
        if len(raw) > _MAX_FORM_BYTES:
            raise InvalidArgument(f"the form is longer than {_MAX_FORM_BYTES} bytes")
    return raw


def _show(visit: Visit, chosen: Sequence[Chosen], status: int = 200) -> Response:
    return visit.render("job_deletion.html", status, chosen=chosen)


def _names(visit: Visit) -> list[str]:
    """Returns the chosen jobs' names, each once, in their order."""
    return list(dict.fromkeys(visit.request.query_params.getlist("job")))[:_MOST_DELETED]
