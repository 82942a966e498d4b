"""The list of jobs: filters and page in the URL, and rows that follow what happens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from starlette.responses import RedirectResponse, Response

from footplate.console.connect import server_url
from footplate.console.formatting import ICONS, KINDS
from footplate.console.job_order import (
    COLUMNS,
    MOST_SORTED,
    NEWEST,
    next_order,
    read_order,
    sort_jobs,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from starlette.routing import Route

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
