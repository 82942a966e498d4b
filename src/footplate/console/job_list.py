"""The list of jobs: filters and page in the URL, and rows that follow what happens."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from footplate.console.connect import server_url
from footplate.console.formatting import ICONS, KINDS
from footplate.console.hours import ran_hours
from footplate.console.site import Site, Visit

ROWS = 50
_FIELDS = ("q", "state", "kind", "project", "region", "label", "author", "order")
_AT_ONCE = "500"


@dataclass(frozen=True)
class Choice:
    """The reader's filters; an empty field matches all. ``label`` is ``KEY`` or ``KEY=VALUE``."""

    q: str = ""
    state: str = ""
    kind: str = ""
    project: str = ""
    region: str = ""
    label: str = ""
    author: str = ""
    order: str = ""

    @classmethod
    def read(cls, visit: Visit) -> Choice:
        found = cls(*(visit.parameter(name).strip() for name in _FIELDS))
        return replace(found, order=read_order(found.order))

    @property
    def empty(self) -> bool:
        """Returns whether the filters match all jobs."""
        return replace(self, order="") == Choice()

    def parameters(self) -> dict[str, str]:
        """Returns the filters as parameters of the page's URL."""
        return {name: value for name in _FIELDS if (value := getattr(self, name))}

    def operation(self) -> dict[str, str]:
        """Returns the filters as parameters of the operation."""
        parts = list(self._conditions())
        asked = {"kind": self.kind, "project": self.project, "region": self.region}
        asked["filter"] = " AND ".join(parts)
        return {name: value for name, value in asked.items() if value}

    def _conditions(self) -> Iterator[str]:
        if self.q:
            yield f"(displayName:{_quoted(self.q)} OR jobId:{_quoted(self.q)})"
        if self.state == "ACTIVE":
            yield "(state=QUEUED OR state=PREPARING OR state=RUNNING OR state=CANCELLING)"
        elif self.state in ICONS:
            yield f"state={self.state}"
        if self.author:
            yield f"author={_quoted(self.author)}"
        if self.label:
            key, equals, value = self.label.partition("=")
            key = key.strip().replace('"', "").replace("\\", "")
            yield f'labels."{key}"={_quoted(value.strip())}' if equals else f'labels."{key}":*'


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def job_list_routes(site: Site) -> list[Route]:
    return [site.page("/jobs", _show)]


async def _show(visit: Visit) -> Response:
    """Returns the whole page or, for htmx, the table; 204 if the reader has it already."""
    if not visit.is_fragment:
        return await _show_page(visit)
    digest, text = await visit.share(lambda: _write_rows(visit))
    if visit.parameter("seen") == digest:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return visit.respond(text)


async def _write_rows(visit: Visit) -> tuple[str, str]:
    """Returns the digest of the table's content, and the table."""
    context = await _read(visit)
    return str(context["digest"]), visit.render_text("job_rows.html", **context)


async def _show_page(visit: Visit) -> Response:
    context = await _read(visit)
    choice: Choice = context["choice"]
    if context["first_url"] and context["jobs"] and not context["previous_url"]:
        return RedirectResponse(_url(choice, {}), HTTPStatus.SEE_OTHER)  # the newest are reached
    collections = await visit.get("/footplate/v1/collections")
    places = [str(name).split("/") for name in _list(collections.get("collections"))]
    return visit.render(
        "jobs.html",
        **context,
        states=("ACTIVE", *ICONS),
        kind_names=KINDS,
        projects=sorted({parts[1] for parts in places}),
        regions=sorted({parts[3] for parts in places if len(parts) > 4}),
    )


async def _read(visit: Visit) -> dict[str, Any]:
    """Returns the values for both templates."""
    choice, token = Choice.read(visit), visit.parameter("page")
    read = _read_sorted if choice.order else _read_newest
    found = await read(visit, choice, token)
    following, previous = found.get("nextPageToken"), found.get("previousPageToken")
    digest = sha256(repr(found).encode()).hexdigest()[:16]
    authors = {job.get("author", "") for job in found["jobs"]}
    orders = {name: next_order(choice.order, name) for name in COLUMNS}
    return {
        "choice": choice,
        "jobs": found["jobs"],
        "shows_authors": bool(choice.author) or len(authors) > 1,
        "sorted_of": found.get("sortedOf"),
        "most_sorted": MOST_SORTED,
        "order": choice.order or NEWEST,
        "orders": {
            name: _url(replace(choice, order=read_order(order)), {})
            for name, order in orders.items()
        },
        "digest": digest,
        "here_url": _url(choice, {"page": token} if token else {}),
        "next_url": _url(choice, {"page": str(following)}) if following else None,
        "previous_url": _url(choice, {"page": str(previous)}) if previous else None,
        "first_url": _url(choice, {}) if token else None,
        "server": server_url(visit),
    }


async def _read_newest(visit: Visit, choice: Choice, token: str) -> dict[str, Any]:
    asked = {**choice.operation(), "pageSize": str(ROWS)} | ({"pageToken": token} if token else {})
    return await visit.get("/footplate/v1/jobs", asked)


async def _read_sorted(visit: Visit, choice: Choice, token: str) -> dict[str, Any]:
    """Returns the operation's answer, but sorted; a page token is the number of its first row."""
    start = int(token) if token.isascii() and token.isdigit() and len(token) < 6 else 0
    asked = {**choice.operation(), "pageSize": _AT_ONCE}
    found = await visit.read_all("/footplate/v1/jobs", "jobs", asked, most=MOST_SORTED)
    rows = sort_jobs(found, choice.order, datetime.now(UTC))
    answer: dict[str, Any] = {"jobs": rows[start : start + ROWS], "sortedOf": len(rows)}
    if start + ROWS < len(rows):
        answer["nextPageToken"] = str(start + ROWS)
    if start > 0:
        answer["previousPageToken"] = str(max(0, start - ROWS))
    return answer


def _list(value: object) -> Iterable[object]:
    return value if isinstance(value, list) else ()


def _url(choice: Choice, more: dict[str, str]) -> str:
    parameters = choice.parameters() | more
    return f"/jobs?{urlencode(parameters)}" if parameters else "/jobs"


NEWEST = "-created"
"""The order of the service's own list, which has any length."""
MOST_SORTED = 1000
"""The newest of the jobs that match: for other orders than its own the service has no index."""
_STATES = tuple(ICONS)
_Key = Any
"""Of one column all keys are of one type."""


@dataclass(frozen=True)
class Column:
    """A column to sort by. ``key`` takes a job, as the service lists it, and the current time."""

    name: str
    key: Callable[[Mapping[str, Any], datetime], _Key]


def _title(job: Mapping[str, Any], _now: datetime) -> _Key:
    return str(job["displayName"] or job["jobId"]).casefold()


def _machines(job: Mapping[str, Any], _now: datetime) -> _Key:
    count = sum(int(pool["count"]) for pool in job["machines"])
    return count, str(job["machines"][0]["machineType"]) if job["machines"] else ""


def _used(job: Mapping[str, Any], now: datetime) -> _Key:
    return ran_hours(job, now) * float((job.get("perHour") or {}).get("machines", 0))


COLUMNS = {
    column.name: column
    for column in (
        Column("state", lambda job, _: _STATES.index(str(job["state"]))),
        Column("name", _title),
        Column("kind", lambda job, _: KINDS.get(str(job["kind"]), "")),
        Column("machines", _machines),
        Column("where", lambda job, _: (str(job["project"]), str(job["region"]))),
        Column("created", lambda job, _: str(job["createTime"])),
        Column("ran", ran_hours),
        Column("used", _used),
    )
}


def read_order(text: str) -> str:
    """Returns a valid order: ``name``, or ``-name`` for descending; '' for newest first or an
    unknown one.
    """
    known = text.removeprefix("-") in COLUMNS and text != NEWEST
    return text if known else ""


def sort_jobs(
    jobs: Sequence[Mapping[str, Any]], order: str, now: datetime
) -> list[Mapping[str, Any]]:
    """Sorts jobs; equal ones stay in their order, newest first."""
    column = COLUMNS[order.removeprefix("-")]
    return sorted(jobs, key=lambda job: column.key(job, now), reverse=order.startswith("-"))


def next_order(order: str, column: str) -> str:
    """Returns the order after a click on ``column``; columns of numbers begin with the largest."""
    first = f"-{column}" if column in ("created", "ran", "used", "machines") else column
    second = first.removeprefix("-") if first.startswith("-") else f"-{first}"
    return second if (order or NEWEST) == first else first
