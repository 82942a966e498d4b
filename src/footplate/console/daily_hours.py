"""The page on what projects used day by day: charts, and the numbers behind them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from footplate.domain.machine_hours import say_amount

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from starlette.responses import Response
    from starlette.routing import Route

    from footplate.console.site import Site, Visit

    DayJson = Mapping[str, Any]

PATH = "/capacity/usage"
WIDTH, HEIGHT = 1000.0, 100.0
"""Of a chart, in units of its drawing."""
_GAP = 0.15
"""Between two days, of the width of one."""
_DAY = timedelta(days=1)
COLOURS = 7
"""Projects that have one of their own; the others share one."""
ROWS = 500
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
    return [site.page(PATH, _show)]


async def _show(visit: Visit) -> Response:
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
        days=[*reversed(answer["days"])][:ROWS],
        omitted=max(0, len(answer["days"]) - ROWS),
        earlier=_url(project, first, last, first - last - _DAY),
        later=_url(project, first, last, min(last - first + _DAY, today - last))
        if last < today
        else None,
    )


def _url(project: str, first: date, last: date, by: timedelta) -> str:
    """Returns the page's address for the days moved by ``by``."""
    days = {"startDate": str(first + by), "endDate": str(last + by)}
    return f"{PATH}?{urlencode(({'project': project} if project else {}) | days)}"


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
