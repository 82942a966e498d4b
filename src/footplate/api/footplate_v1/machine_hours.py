"""Routes of Footplate's own API: what jobs hold, have used, and cost."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING

from footplate.api.json_route import json_route
from footplate.domain.daily_hours import MOST_DAYS, Days
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.names import parse_job_name
from footplate.wire.json_text import describe

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.routing import Route

    from footplate.api.json_route import Call
    from footplate.control.costs import Costs, Use
    from footplate.domain.jobs import Job
    from footplate.domain.names import JobName
    from footplate.wire.json_text import JsonObject

DEFAULT_DAYS = 30


def hours_routes(costs: Costs, get_job: Callable[[JobName], Job]) -> list[Route]:
    """Returns the routes; ``get_job`` raises NotFound."""
    api = _Hours(costs, get_job)
    return [
        json_route("/footplate/v1/machineHours", {"GET": api.daily}),
        json_route("/footplate/v1/{name:path}/hours", {"GET": api.of_job}),
    ]


@dataclass(frozen=True)
class _Hours:
    _costs: Costs
    _get_job: Callable[[JobName], Job]

    def of_job(self, call: Call) -> JsonObject:
        """Returns the hours that a job has used so far, by type, and their cost."""
        return _use_json(self._costs.used(self._get_job(parse_job_name(call.path["name"]))))

    def daily(self, call: Call) -> JsonObject:
        """Returns hours by day of UTC and project.

        ``?project=&startDate=2026-11-01&endDate=2026-11-30`` chooses them.

        Both dates are included, at most 92 days; the default is the last 30. Deleted jobs aren't
        counted.
        """
        days = read_days(
            call.parameter("startDate", "start_date"),
            call.parameter("endDate", "end_date"),
            self._costs.today(),
        )
        found = self._costs.daily(days, call.parameter("project") or "")
        return {
            "startDate": days.first.isoformat(),
            "endDate": days.last.isoformat(),
            "timeZone": "UTC",
            "days": [
                {"date": day.isoformat(), "project": project, **_use_json(use)}
                for day, project, use in found
            ],
        }


def read_days(start: str | None, end: str | None, today: date) -> Days:
    """Returns the days between two dates. Raises InvalidArgument if there are none, too many, or
    future days.
    """
    last = _read_date("endDate", end, today) or today
    fallback = date.fromordinal(max(1, last.toordinal() - DEFAULT_DAYS + 1))
    first = _read_date("startDate", start, today) or fallback
    least = last - timedelta(days=min(MOST_DAYS, last.toordinal()) - 1)
    if not least <= first <= last:
        rule = (
            f"allowed: a day from {least} to {last}, because an answer has at most {MOST_DAYS} days"
        )
        raise InvalidArgument.of((Violation("startDate", f"{first} given; {rule}"),))
    return Days(first, last)


def _read_date(field: str, text: str | None, today: date) -> date | None:
    if not text:
        return None
    try:
        found = date.fromisoformat(text)
    except ValueError:
        found = None
    if found is None or found > today:
        rule = f"allowed: today ({today} in UTC) or an earlier day"
        raise InvalidArgument.of((Violation(field, f"{describe(text)} given; {rule}"),))
    return found


def _use_json(use: Use) -> JsonObject:
    return {
        "machineHours": {**use.hours.machines},
        "acceleratorHours": {**use.hours.accelerators},
        **_cost(use),
    }


def per_hour_json(use: Use) -> JsonObject:
    """Returns how many machines and accelerators a job holds, and what they cost per hour."""
    hours = use.hours
    return {
        "machines": round(sum(hours.machines.values())),
        "accelerators": round(sum(hours.accelerators.values())),
        **_cost(use),
    }


def _cost(use: Use) -> JsonObject:
    return {} if use.cost is None else {"cost": use.cost, "currency": use.currency}
