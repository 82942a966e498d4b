"""Orders of job lists other than the newest first. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from footplate.domain.filters import Field
from footplate.domain.jobs import Job
from footplate.domain.timestamps import to_micros

TIMES = (Field.START_TIME, Field.END_TIME)
"""Those that a job may lack; it comes last then, in either direction."""

Value = str | int


@dataclass(frozen=True)
class OrderedBy:
    """An order by one field, which can be any but LABEL; names are compared ignoring case."""

    field: Field
    descending: bool = False


JobOrder = tuple[OrderedBy, ...]
"""The first one counts most. Jobs that are equal in all of them come newest first."""


def directions(order: JobOrder) -> tuple[bool, ...]:
    """Returns for each of the values that order a job whether they descend."""
    found: list[bool] = []
    for each in order:
        found += [False, each.descending] if each.field in TIMES else [each.descending]
    return (*found, True, True)


def order_values(job: Job, order: JobOrder) -> tuple[Value, ...]:
    """Returns the values that order a job; no two jobs have the same ones."""
    found: list[Value] = []
    for each in order:
        found += _values(job, each.field)
    return (*found, to_micros(job.create_time), job.uid)


def _values(job: Job, field: Field) -> list[Value]:
    match field:
        case Field.DISPLAY_NAME:
            return [job.display_name.casefold()]
        case Field.JOB_ID:
            return [job.name.job_id.casefold()]
        case Field.STATE:
            return [job.state.value]
        case Field.REGION:
            return [job.region]
        case Field.AUTHOR:
            return [job.author]
        case Field.CREATE_TIME:
            return [to_micros(job.create_time)]
        case Field.START_TIME:
            return _time(job.start_time)
        case Field.END_TIME:
            return _time(job.end_time)
        case _:
            raise ValueError(f"the server can't sort jobs by {field.value}")


def _time(moment: datetime | None) -> list[Value]:
    return [1, 0] if moment is None else [0, to_micros(moment)]
