"""Sums how long jobs ran, by project, machines and days, without reading the jobs."""

from __future__ import annotations

import json
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import case, func, literal, select, union_all

from footplate.domain.daily_hours import DAY_US, RunningTimes
from footplate.domain.errors import DataLoss
from footplate.domain.jobs import MachineSpec
from footplate.domain.timestamps import to_micros
from footplate.ports.store import ACTIVE
from footplate.store.tables import jobs

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Connection, Select

    from footplate.domain.machine_hours import Machines

_ACTIVE = [state.value for state in ACTIVE]


def machines_text(machines: Machines) -> str | None:
    """Returns a text that is the same for equal machines, to group by; None: no machines."""
    rows = [[m.machine_type, m.accelerator_type, m.accelerator_count, n] for m, n in machines]
    return json.dumps(rows, separators=(",", ":")) if rows else None


def read_machines(text: str) -> Machines:
    """Parses the text of machines. Raises DataLoss: ``machines_text`` never wrote it."""
    try:
        return tuple(
            (MachineSpec(kind, name, count), n) for kind, name, count, n in json.loads(text)
        )
    except (ValueError, TypeError) as error:
        raise DataLoss(f"the machines of a job can't be read: {text[:80]!a}") from error


def read_running_times(
    connection: Connection, begin: datetime, end: datetime
) -> tuple[RunningTimes, ...]:
    """Reads the running times between two times; ``end`` must not be in the future."""
    rows = connection.execute(running_times_query(to_micros(begin), to_micros(end))).all()
    return tuple(
        RunningTimes(
            project,
            read_machines(machines),
            jobs=count,
            first_day=first_day,
            started_us=int(started_us),
            last_day=last_day,
            ended_us=int(ended_us),
        )
        for project, machines, first_day, last_day, count, started_us, ended_us in rows
    )


def running_times_query(first: int, last: int) -> Select[Any]:
    """Groups jobs by project, machines, first and last day; sums their number and times of day.

    The type Any is SQLAlchemy's.
    """
    ended = _ran(first, last).where(jobs.c.end_time.is_not(None), jobs.c.end_time > first)
    running = _ran(first, last).where(jobs.c.end_time.is_(None), jobs.c.state.in_(_ACTIVE))
    ran = union_all(ended, running).subquery("ran").c
    day = literal(DAY_US)
    days = select(
        ran.project,
        ran.machines,
        (ran.start_us // day).label("first_day"),
        (ran.start_us % day).label("started_us"),
        (ran.end_us // day).label("last_day"),
        (ran.end_us % day).label("ended_us"),
    ).subquery("days")
    alike = (days.c.project, days.c.machines, days.c.first_day, days.c.last_day)
    sums = (func.sum(days.c.started_us), func.sum(days.c.ended_us))
    return select(*alike, func.count(), *sums).group_by(*alike)


def _ran(first: int, last: int) -> Select[tuple[str, str, int, int]]:
    """Selects running times from the index of runs alone, without reading rows of jobs."""
    start, end = jobs.c.start_time, func.coalesce(jobs.c.end_time, last)
    begun = _at_least(start, first)
    ended = case((end > last, last), else_=end)
    return select(
        jobs.c.project,
        jobs.c.machines,
        begun.label("start_us"),
        _at_least(ended, begun).label("end_us"),
    ).where(jobs.c.machines.is_not(None), start < last)


def _at_least(value: ColumnElement[int], least: ColumnElement[int] | int) -> ColumnElement[int]:
    return case((value < least, least), else_=value)
