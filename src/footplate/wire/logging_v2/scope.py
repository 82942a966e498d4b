"""Derives job ids and a time range from a query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, assert_never

from footplate.domain.filters import Comparator
from footplate.wire.logging_v2.queries import (
    And,
    Comparison,
    Not,
    Or,
    Query,
    Resemblance,
    Word,
)

if TYPE_CHECKING:
    from datetime import datetime

_JOB_ID = "resource.labels.job_id"


@dataclass(frozen=True)
class Span:
    """Times from ``first`` to ``last``, both included; None: no bound."""

    first: datetime | None = None
    last: datetime | None = None


def job_ids(query: Query) -> frozenset[str] | None:
    """The ids that an entry's job must have one of; None: any will do."""
    match query:
        case Comparison(field=field, comparator=Comparator.EQUAL, value=str(value)):
            return frozenset({value}) if field == _JOB_ID else None
        case Comparison() | Resemblance() | Word() | Not():
            return None
        case And():
            bound = [ids for part in query.parts if (ids := job_ids(part)) is not None]
            return frozenset.intersection(*bound) if bound else None
        case Or():
            each = [job_ids(part) for part in query.parts]
            known = [ids for ids in each if ids is not None]
            return frozenset().union(*known) if len(known) == len(each) else None
        case _:
            assert_never(query)


def span(query: Query) -> Span:
    """Times outside of which no entry matches. Its bounds may be wider than need be."""
    match query:
        case Comparison():
            return _compared(query)
        case Resemblance() | Word() | Not():
            return Span()
        case And():
            each = [span(part) for part in query.parts]
            firsts = [s.first for s in each if s.first is not None]
            lasts = [s.last for s in each if s.last is not None]
            return Span(max(firsts, default=None), min(lasts, default=None))
        case Or():
            each = [span(part) for part in query.parts]
            firsts = [s.first for s in each if s.first is not None]
            lasts = [s.last for s in each if s.last is not None]
            return Span(
                min(firsts) if len(firsts) == len(each) else None,
                max(lasts) if len(lasts) == len(each) else None,
            )
        case _:
            assert_never(query)


def _compared(comparison: Comparison) -> Span:
    time = comparison.value
    if comparison.field != "timestamp" or isinstance(time, str | int):
        return Span()
    match comparison.comparator:
        case Comparator.EQUAL:
            return Span(time, time)
        case Comparator.GREATER | Comparator.GREATER_OR_EQUAL:
            return Span(first=time)
        case Comparator.LESS | Comparator.LESS_OR_EQUAL:
            return Span(last=time)
        case Comparator.NOT_EQUAL | Comparator.MATCHES:
            return Span()
        case _:
            assert_never(comparison.comparator)


def without_end(query: Query) -> Query:
    """``query`` without those of its conditions that bound the time from above."""
    parts = query.parts if isinstance(query, And) else (query,)
    return And(tuple(part for part in parts if not _bounds_end(part)))


def _bounds_end(query: Query) -> bool:
    return (
        isinstance(query, Comparison)
        and query.field == "timestamp"
        and query.comparator in (Comparator.LESS, Comparator.LESS_OR_EQUAL)
    )
