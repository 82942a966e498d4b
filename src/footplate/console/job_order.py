"""Sorts the list of jobs by a column of it. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footplate.console.formatting import ICONS, KINDS
from footplate.console.hours import ran_hours

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

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
