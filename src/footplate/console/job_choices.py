"""The actions on several jobs at once: compare them, delete them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any
from urllib.parse import parse_qs

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from footplate.console.formatting import duration, kind_title, machines, parse
from footplate.console.site import Site, Visit
from footplate.console.timeline import TERMINAL
from footplate.domain.errors import InvalidArgument, NotFound, ServiceError
from footplate.domain.names import parse_job_name

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


NONE = "\u2013"


@dataclass(frozen=True)
class Line:
    """The values of all jobs for one title, in the order of the jobs."""

    title: str
    values: tuple[str, ...]

    @property
    def differs(self) -> bool:
        return len(set(self.values)) > 1


@dataclass(frozen=True)
class Comparison:
    """A comparison of jobs. ``same`` are the fields that are equal in all jobs' requests."""

    runs: tuple[Line, ...]
    metrics: tuple[Line, ...]
    different: tuple[Line, ...]
    same: tuple[Line, ...]


def compare(jobs: Sequence[Any], series: Sequence[Sequence[Any]]) -> Comparison:
    """Compares jobs. ``series`` are those of each job's metrics."""
    requests = [dict(_flat({**job["request"], "labels": job.get("labels", {})})) for job in jobs]
    asked = _lines(requests)
    return Comparison(
        runs=_lines([dict(_run(job)) for job in jobs]),
        metrics=_lines([dict(_last_values(each)) for each in series]),
        different=tuple(line for line in asked if line.differs),
        same=tuple(line for line in asked if not line.differs),
    )


def _lines(found: Sequence[Mapping[str, str]]) -> tuple[Line, ...]:
    titles = dict.fromkeys(title for each in found for title in each)
    return tuple(Line(title, tuple(each.get(title, NONE) for each in found)) for title in titles)


def _run(job: Any) -> Iterator[tuple[str, str]]:
    yield "state", str(job["state"]).lower()
    yield "why", str(job.get("message", ""))
    yield "kind", kind_title(str(job["kind"]))
    yield "project", str(job["project"])
    yield "region", str(job["region"])
    yield "machines", machines(job["machines"])
    yield "restarts", str(job["restarts"])
    if job.get("startTime") and job.get("endTime"):
        seconds = (parse(job["endTime"]) - parse(job["startTime"])).total_seconds()
        yield "ran", duration(seconds)


def _last_values(series: Sequence[Any]) -> Iterator[tuple[str, str]]:
    """Yields last values by metric; the name contains the source if several metrics share it."""
    names = [str(each["metric"]) for each in series]
    for each in series:
        values = [value for value in each["values"] if value is not None]
        name = str(each["metric"])
        title = name if names.count(name) == 1 else f"{name} ({each['source']})"
        if values:
            last = values[-1]
            yield title, f"{last:.6g}" if isinstance(last, float) else str(last)


def _flat(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yields each value with its path, such as ``jobSpec.workerPoolSpecs[0].replicaCount``."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _flat(each, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and any(isinstance(each, dict) for each in value):
        for at, each in enumerate(value):
            yield from _flat(each, f"{path}[{at}]")
    elif isinstance(value, list):
        yield path, " ".join(map(str, value))
    else:
        yield path, str(value)
