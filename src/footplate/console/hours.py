"""The use of jobs so far, computed from what they hold in an hour."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from footplate.console.formatting import parse
from footplate.domain.machine_hours import say_amount, say_cost

_HOUR_S = 3600


@dataclass
class ProjectUse:
    """The use of a project's running jobs. Costs include only jobs with known prices."""

    project: str
    jobs: int = 0
    machines: int = 0
    accelerators: int = 0
    hours: float = 0.0
    accelerator_hours: float = 0.0
    cost: float = 0.0
    cost_per_hour: float = 0.0
    currency: str = ""
    unpriced: int = 0
    """How many of the jobs have no price."""


def ran_hours(job: Mapping[str, Any], now: datetime) -> float:
    """Returns the hours from the job's first start to its end, or until now."""
    if not job.get("startTime"):
        return 0.0
    end = parse(job["endTime"]) if job.get("endTime") else now
    return max(0.0, (end - parse(job["startTime"])).total_seconds()) / _HOUR_S


def used(job: Mapping[str, Any], now: datetime) -> list[str]:
    """Returns ``2.5 machine-h`` and, if any, ``5 accelerator-h``; nothing before its start."""
    rates, hours = job.get("perHour"), ran_hours(job, now)
    if not (rates and hours):
        return []
    units = ((rates["machines"], "machine-h"), (rates["accelerators"], "accelerator-h"))
    return [f"{say_amount(rate * hours)} {unit}" for rate, unit in units if rate]


def cost(job: Mapping[str, Any], now: datetime) -> str:
    """Returns the job's cost; '' if a price isn't known, or it hasn't run."""
    rates, hours = job.get("perHour"), ran_hours(job, now)
    if not (rates and hours and "cost" in rates):
        return ""
    return say_cost(rates["cost"] * hours, rates["currency"])


def use_by_project(jobs: Iterable[Mapping[str, Any]], now: datetime) -> list[ProjectUse]:
    """Returns the use of each project. ``jobs`` are those that hold machines."""
    found: dict[str, ProjectUse] = {}
    for job in jobs:
        rates = job.get("perHour")
        if not rates:
            continue
        project = str(job["project"])
        use, hours = found.setdefault(project, ProjectUse(project)), ran_hours(job, now)
        use.jobs += 1
        use.machines += rates["machines"]
        use.accelerators += rates["accelerators"]
        use.hours += rates["machines"] * hours
        use.accelerator_hours += rates["accelerators"] * hours
        if "cost" in rates:
            use.currency = rates["currency"]
            use.cost_per_hour += rates["cost"]
            use.cost += rates["cost"] * hours
        else:
            use.unpriced += 1
    return sorted(found.values(), key=lambda use: use.project)


HOUR_FILTERS: Mapping[str, Callable[..., Any]] = {
    "used": used,
    "cost": cost,
    "decimal": say_amount,
    "money": say_cost,
}
