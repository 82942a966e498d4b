"""Derives job ids and a time range from a query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from footplate.domain.filters import And, Comparator, Or
from footplate.wire.logging_v2.queries import Comparison, Query

_JOB_ID = "resource.labels.job_id"
_NOT_BEFORE = (Comparator.EQUAL, Comparator.GREATER, Comparator.GREATER_OR_EQUAL)
_NOT_AFTER = (Comparator.EQUAL, Comparator.LESS, Comparator.LESS_OR_EQUAL)


@dataclass(frozen=True)
class Span:
    """A period from ``first`` to ``last``, both included; None: no bound."""

    first: datetime | None = None
    last: datetime | None = None


def job_ids(query: Query) -> frozenset[str] | None:
    """Returns the job ids of which an entry must have one; None: any job will do."""
    match query:
        case Comparison(field, Comparator.EQUAL, str(value)) if field == _JOB_ID:
            return frozenset({value})
        case And():
            bound = [ids for part in query.parts if (ids := job_ids(part)) is not None]
            return frozenset.intersection(*bound) if bound else None
        case Or():
            each = [job_ids(part) for part in query.parts]
            known = [ids for ids in each if ids is not None]
            return frozenset().union(*known) if len(known) == len(each) else None
        case _:
            return None


def span(query: Query) -> Span:
    """Returns a period outside of which no entry matches; it may be longer than necessary."""
    match query:
        case Comparison("timestamp", comparator, datetime() as time):
            return Span(
                time if comparator in _NOT_BEFORE else None,
                time if comparator in _NOT_AFTER else None,
            )
        case And() | Or():
            each = [span(part) for part in query.parts]
            firsts = [s.first for s in each if s.first is not None]
            lasts = [s.last for s in each if s.last is not None]
            if isinstance(query, And):
                return Span(max(firsts, default=None), min(lasts, default=None))
            return Span(
                min(firsts) if len(firsts) == len(each) else None,
                max(lasts) if len(lasts) == len(each) else None,
            )
        case _:
            return Span()


def without_end(query: Query) -> Query:
    """Returns ``query`` without the conditions that limit the time from above."""
    parts = query.parts if isinstance(query, And) else (query,)
    return And(tuple(part for part in parts if not _bounds_end(part)))


def _bounds_end(query: Query) -> bool:
    return (
        isinstance(query, Comparison)
        and query.field == "timestamp"
        and query.comparator in (Comparator.LESS, Comparator.LESS_OR_EQUAL)
    )
