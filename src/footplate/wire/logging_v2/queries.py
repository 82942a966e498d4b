"""Parses the part of the Logging query language that log readers use.

Fields: those of an entry, down to the keys of its labels and payload.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.domain.filters import Comparator
from footplate.wire.filter_parser import LogicalOperators, Restriction, parse_expression
from footplate.wire.log_severity import SEVERITIES
from footplate.wire.timestamps import parse_time

if TYPE_CHECKING:
    from datetime import datetime

MAX_COMPARISONS = 200

TIMES = ("timestamp", "receiveTimestamp")
_FIELDS = frozenset(
    {
        *TIMES,
        "insertId",
        "severity",
        "logName",
        "textPayload",
        "resource.type",
        "resource.labels.job_id",
        "resource.labels.task_name",
        "resource.labels.project_id",
    }
)
_OPEN_FIELDS = ("labels.", "jsonPayload.", "resource.labels.")


@dataclass(frozen=True)
class Comparison:
    """``value`` is a time for times, a place in SEVERITIES for the severity."""

    field: str
    comparator: Comparator
    value: str | int | datetime


@dataclass(frozen=True)
class And:
    parts: tuple[Query, ...]


@dataclass(frozen=True)
class Or:
    parts: tuple[Query, ...]


@dataclass(frozen=True)
class Not:
    part: Query


Query = Comparison | And | Or | Not
_OPERATORS_OF_LOGIC: LogicalOperators[Query] = LogicalOperators(And, Or, Not)


def parse_query(text: str) -> Query:
    """The query that ``text`` spells; an empty one has no conditions.

    Raises:
        InvalidArgument: naming the place, what is wrong there and what is allowed.
    """
    if not text.strip():
        return And(())
    return parse_expression(text, _read, _OPERATORS_OF_LOGIC, MAX_COMPARISONS)


def _read(given: Restriction) -> Query:
    field = given.field
    if field not in _FIELDS and not field.startswith(_OPEN_FIELDS):
        known = ", ".join((*sorted(_FIELDS), "labels.KEY", "jsonPayload.KEY"))
        given.refuse_name(f"unknown field; allowed: {known};")
    if field in TIMES:
        return Comparison(field, given.comparator, _time(given))
    if field == "severity":
        return Comparison(field, given.comparator, _severity(given))
    return Comparison(field, given.comparator, given.value.text)


def _time(given: Restriction) -> datetime:
    if given.comparator is Comparator.MATCHES:
        given.refuse_value(": given for a time; allowed: = != < <= > >=;")
    try:
        return parse_time(given.value.text)
    except ValueError as error:
        given.refuse_value(str(error))


def _severity(given: Restriction) -> int:
    """By name, or by Cloud Logging's numbers: 100 for each place."""
    text = given.value.text.upper()
    if text.isascii() and text.isdigit() and len(text) < 5:
        return int(text) // 100
    if text not in SEVERITIES:
        given.refuse_value(f"unknown severity; allowed: {', '.join(SEVERITIES)};")
    return SEVERITIES.index(text)
