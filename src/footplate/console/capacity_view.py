"""A page of each region's capacity, who holds it, projects' limits, and waiting jobs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from hashlib import sha256
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from starlette.responses import Response
from starlette.routing import Route

from footplate.console.hours import use_by_project
from footplate.console.site import Site, Visit
from footplate.domain.machine_hours import say_amount
from footplate.wire.footplate_v1.quotas import Origin, Quota, Quotas

DayJson = Mapping[str, Any]


# The page on what projects used day by day: charts, and the numbers behind them.

DAYS_PATH = "/capacity/usage"
WIDTH, HEIGHT = 1000.0, 100.0
"""Of a chart, in units of its drawing."""
_GAP = 0.15
"""Between two days, of the width of one."""
_DAY = timedelta(days=1)
COLOURS = 7
"""Projects that have one of their own; the others share one."""
DAYS_SHOWN = 500
MACHINES, ACCELERATORS = "machineHours", "acceleratorHours"


@dataclass(frozen=True)
class Bar:
    """One day's use by a project. ``look`` names the colour; ``text`` has the number."""

    x: float
    y: float
    width: float
    height: float
    look: str
    text: str

    def rounded(self) -> Bar:
        x, y, width, height = (round(n, 2) for n in (self.x, self.y, self.width, self.height))
        return Bar(x, y, width, height, self.look, self.text)


@dataclass(frozen=True)
class Chart:
    """A chart of daily use. ``most`` is its height: the hours of the day with the most use."""

    title: str
    most: float
    bars: tuple[Bar, ...]


@dataclass
class ProjectHours:
    """A project's use over all the days. ``unpriced`` counts days without a cost."""

    project: str
    look: str
    machine_hours: float = 0.0
    accelerator_hours: float = 0.0
    cost: float = 0.0
    currency: str = ""
    unpriced: int = 0


def daily_hours_routes(site: Site) -> list[Route]:
    return [site.page(DAYS_PATH, _show_days)]


async def _show_days(visit: Visit) -> Response:
    """Shows daily use, with the operation's parameters: ``?project=&startDate=&endDate=``."""
    names = ("project", "startDate", "endDate")
    asked = {name: value for name in names if (value := visit.parameter(name).strip())}
    answer: Any = await visit.get("/footplate/v1/machineHours", asked)
    first, last = (date.fromisoformat(answer[name]) for name in ("startDate", "endDate"))
    today = datetime.now(UTC).date()
    projects = sum_projects(answer["days"])
    looks = {each.project: each.look for each in projects}
    charts = [
        make_chart(title, first, last, answer["days"], key, looks)
        for key, title in ((MACHINES, "Machine-hours"), (ACCELERATORS, "Accelerator-hours"))
    ]
    project = asked.get("project", "")
    return visit.render(
        "daily_hours.html",
        project=project,
        first=first,
        last=last,
        charts=[chart for chart in charts if chart.bars],
        projects=projects,
        days=[*reversed(answer["days"])][:DAYS_SHOWN],
        omitted=max(0, len(answer["days"]) - DAYS_SHOWN),
        earlier=_url(project, first, last, first - last - _DAY),
        later=_url(project, first, last, min(last - first + _DAY, today - last))
        if last < today
        else None,
    )


def _url(project: str, first: date, last: date, by: timedelta) -> str:
    """Returns the page's address for the days moved by ``by``."""
    days = {"startDate": str(first + by), "endDate": str(last + by)}
    return f"{DAYS_PATH}?{urlencode(({'project': project} if project else {}) | days)}"


def hours_of(day: DayJson, key: str) -> float:
    """Returns the sum of the hours of all types."""
    return float(sum(day[key].values()))


def sum_projects(days: Sequence[DayJson]) -> list[ProjectHours]:
    """Returns the use by project, largest first; the first ones get colours of their own."""
    found: dict[str, ProjectHours] = {}
    for day in days:
        each = found.setdefault(str(day["project"]), ProjectHours(str(day["project"]), ""))
        each.machine_hours += hours_of(day, MACHINES)
        each.accelerator_hours += hours_of(day, ACCELERATORS)
        if "cost" in day:
            each.cost += day["cost"]
            each.currency = str(day["currency"])
        else:
            each.unpriced += 1
    ordered = sorted(found.values(), key=lambda each: (-each.machine_hours, each.project))
    for place, each in enumerate(ordered):
        each.look = f"r{min(place, COLOURS)}"
    return ordered


def make_chart(
    title: str,
    first: date,
    last: date,
    days: Sequence[DayJson],
    key: str,
    looks: Mapping[str, str],
) -> Chart:
    """Returns a column for each day, with a part for each project that used anything.

    The first project of ``looks`` is at the bottom.
    """
    columns: dict[str, dict[str, float]] = {}
    for day in days:
        if hours := hours_of(day, key):
            columns.setdefault(str(day["date"]), {})[str(day["project"])] = hours
    most = max((sum(column.values()) for column in columns.values()), default=0.0)
    width = WIDTH / ((last - first).days + 1)
    bars: list[Bar] = []
    for name, column in columns.items():
        x, top = (date.fromisoformat(name) - first).days * width, HEIGHT
        for project in filter(column.__contains__, looks):
            height = column[project] / most * HEIGHT
            top -= height
            text = f"{name} {project}: {say_amount(column[project])}"
            place = Bar(x + _GAP / 2 * width, top, width * (1 - _GAP), height, looks[project], text)
            bars.append(place.rounded())
    return Chart(title, most, tuple(bars))


ANY = "*"
ROWS = 100
"""Shown of the jobs that run, and of those that wait."""
_PAGE = "500"
_MAX_JOBS = 5000
_MAX_PLACES = 200
"""Projects in regions whose quota is asked for."""
_HOLDING = "state=PREPARING OR state=RUNNING OR state=CANCELLING"


@dataclass(frozen=True)
class Amount:
    """An amount of a resource. ``limit`` is None if there is none.

    ``used`` is None if each project or region counts by itself.
    """

    resource: str
    used: int | None
    limit: int | None
    source: str = ""

    @property
    def free(self) -> int | None:
        return None if None in (self.used, self.limit) else max(0, self.limit - self.used)  # type: ignore[operator]  # both are numbers

    @property
    def percent(self) -> float:
        """Returns the percentage of the limit in use, at most 100."""
        if not self.used:
            return 0.0
        return 100.0 if not self.limit else min(100.0, 100 * self.used / self.limit)


@dataclass(frozen=True)
class Allowance:
    """The limits of one project in one region, and its use of them."""

    project: str
    region: str
    amounts: tuple[Amount, ...]


def capacity_routes(site: Site) -> list[Route]:
    return [site.page("/capacity", _show), *daily_hours_routes(site)]


async def _show(visit: Visit) -> Response:
    """Returns the whole page or, for htmx, its changing part; 204 if that is unchanged."""
    digest, text = await visit.share(lambda: _write(visit))
    if visit.is_fragment and visit.parameter("seen") == digest:
        return Response(status_code=HTTPStatus.NO_CONTENT)
    return visit.respond(text)


async def _write(visit: Visit) -> tuple[str, str]:
    """Returns the digest of the page's content, and the page."""
    regions, limits, running, queued = await asyncio.gather(
        visit.get("/footplate/v1/regions"),
        visit.get("/footplate/v1/quotas"),
        _jobs(visit, _HOLDING),
        _jobs(visit, "state=QUEUED"),
    )
    quotas = Quotas.decode(limits).quotas
    allowances = await _allowances(visit, quotas, running)
    digest = sha256(repr((regions, allowances, running, queued)).encode()).hexdigest()[:16]
    found: Any = regions["regions"]
    text = visit.render_text(
        "capacity_live.html" if visit.is_fragment else "capacity.html",
        regions=found,
        capacities={region["name"]: region_amounts(region) for region in found},
        allowances=allowances,
        limited=bool(quotas),
        running=running[:ROWS],
        queued=in_order(queued)[:ROWS],
        uses=use_by_project(running, datetime.now(UTC)),
        counts={"running": len(running), "queued": len(queued)},
        most=_MAX_JOBS,
        digest=digest,
    )
    return digest, text


async def _jobs(visit: Visit, condition: str) -> list[Any]:
    """Reads jobs, newest first."""
    asked = {"filter": condition, "pageSize": _PAGE}
    return await visit.read_all("/footplate/v1/jobs", "jobs", asked, most=_MAX_JOBS)


async def _allowances(
    visit: Visit, limits: Sequence[Quota], running: Iterable[Any]
) -> tuple[Allowance, ...]:
    """Returns the allowances of all projects and regions that use something or have a quota."""
    named = [(each.project, each.region) for each in limits]
    holding = {(str(job["project"]), str(job["region"])) for job in running}
    exact = sorted({pair for pair in named if ANY not in pair} | holding)[:_MAX_PLACES]
    found = await asyncio.gather(
        *(visit.get(f"/footplate/v1/{_quota(project, region)}") for project, region in exact)
    )
    general = [each for each in limits if ANY in (each.project, each.region)]
    every = map(read_allowance, (*general, *map(Quota.decode, found)))
    return tuple(each for each in every if each.amounts)


def _quota(project: str, region: str) -> str:
    return f"projects/{project}/locations/{region}/quota"


def read_allowance(quota: Quota) -> Allowance:
    """Returns the allowance in an answer; for ``*`` without limits of more specific quotas."""
    place = (quota.project, quota.region)
    general = ANY in place
    amounts = (
        Amount(
            each.name,
            None if general else each.used or 0,
            each.limit,
            _source(each.origin, *place),
        )
        for each in quota.resources()
        if not general or (each.origin.project, each.origin.region) == place
    )
    return Allowance(*place, tuple(amounts))


def _source(origin: Origin, project: str, region: str) -> str:
    """Returns where a limit was set; '' if there is none."""
    if not origin.source:
        return ""
    text = "the settings" if origin.source == "SETTINGS" else "footplate quotas set"
    if (origin.project, origin.region) == (project, region):
        return text
    whose = "each project" if origin.project == ANY else origin.project
    where = "each region" if origin.region == ANY else origin.region
    return f"{text}, for {whose} in {where}"


def region_amounts(region: Mapping[str, Any]) -> tuple[Amount, ...]:
    """Returns a region's amounts, if the service itself allocates its machines."""
    used = region.get("used", {})
    return tuple(
        Amount(resource, used.get(resource, 0), limit)
        for resource, limit in region.get("capacity", {}).items()
        if limit
    )


def in_order(queued: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Sorts jobs by the accelerators that they wait for, and then by their places in that queue."""

    def key(job: Mapping[str, Any]) -> tuple[str, int, str]:
        asked = sorted({str(pool.get("acceleratorType", "")) for pool in job["machines"]})
        return "+".join(asked), int(job.get("place", 0)), str(job["createTime"])

    return sorted(queued, key=key)
