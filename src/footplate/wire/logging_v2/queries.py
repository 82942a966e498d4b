"""Parses the part of the Logging query language that log readers use.

Fields: those of an entry, down to the keys of its labels and payload.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from footplate.domain.filters import And, Comparator, Expression
from footplate.wire.filters.parser import FUNCTION, Dialect, Restriction, parse_expression
from footplate.wire.log_severity import SEVERITIES
from footplate.wire.logging_v2.linear_patterns import MAX_STEPS, LinearPattern
from footplate.wire.logging_v2.pattern_syntax import BadPattern

MAX_COMPARISONS = 200
_DIALECT = Dialect(functions=True, logging=True, max_comparisons=MAX_COMPARISONS)

TIMES = ("timestamp", "receiveTimestamp")
_FIELDS = frozenset(
    {
        *TIMES,
        "insertId",
        "severity",
        "logName",
        "textPayload",
        "trace",
        "spanId",
        "traceSampled",
        "resource.type",
    }
)
_OPEN_FIELDS = (
    *("labels.", "jsonPayload.", "resource.labels."),
    *("httpRequest.", "operation.", "sourceLocation."),
)
_SNAKE_CASE = {
    "http_request": "httpRequest",
    "insert_id": "insertId",
    "json_payload": "jsonPayload",
    "log_name": "logName",
    "receive_timestamp": "receiveTimestamp",
    "source_location": "sourceLocation",
    "span_id": "spanId",
    "text_payload": "textPayload",
    "trace_sampled": "traceSampled",
}
"""Queries may name the fields of entries in both spellings."""
LOG_ID = "log_id"
"""A function: the last part of ``logName``."""


@dataclass(frozen=True)
class Comparison:
    """A comparison of a field; ``value`` is a time, or an index in SEVERITIES."""

    field: str
    comparator: Comparator
    value: str | int | datetime


@dataclass(frozen=True)
class Resemblance:
    """A test whether the pattern matches an existing field, or, if ``negated``, doesn't."""

    field: str
    pattern: LinearPattern
    negated: bool = False


@dataclass(frozen=True)
class Word:
    """A search for a casefolded text in the values of all fields, in any case."""

    text: str


Condition = Comparison | Resemblance | Word
Query: TypeAlias = Expression[Condition]


def parse_query(text: str) -> Query:
    """Parses a query; an empty one has no conditions.

    Raises:
        InvalidArgument: names the place, what is wrong there and what is allowed.
    """
    steps = 0

    def read(given: Restriction) -> Condition:
        nonlocal steps
        found = _read(given)
        if isinstance(found, Resemblance):
            steps += found.pattern.steps
            if steps > MAX_STEPS:  # each character of a text may take as many
                given.refuse_value(
                    f"the regular expressions of the query have more than {MAX_STEPS} steps;"
                )
        return found

    return parse_expression(text, read, _DIALECT) or And(())


def _read(given: Restriction) -> Condition:
    value = given.value.text
    if not given.name.text:
        return Word(value.casefold())
    if given.operator == FUNCTION:
        if given.name.text != LOG_ID:
            given.refuse_name(f"unknown function; allowed: {LOG_ID}(...);")
        return Comparison(LOG_ID, Comparator.EQUAL, value)
    field = _field(given)
    if given.operator in ("=~", "!~"):
        return _resemblance(field, given)
    if field in TIMES:
        return Comparison(field, given.comparator, _time(given))
    if field == "severity":
        return Comparison(field, given.comparator, _severity(given))
    return Comparison(field, given.comparator, value)


def _field(given: Restriction) -> str:
    first, dot, rest = given.field.partition(".")
    field = f"{_SNAKE_CASE.get(first, first)}{dot}{rest}"
    if field not in _FIELDS and not field.startswith(_OPEN_FIELDS):
        known = ", ".join((*sorted(_FIELDS), *(f"{prefix}KEY" for prefix in _OPEN_FIELDS)))
        given.refuse_name(f"unknown field; allowed: {known};")
    return field


def _resemblance(field: str, given: Restriction) -> Resemblance:
    if field in TIMES or field == "severity":
        allowed = "= != < <= > >=" + ("" if field in TIMES else " :")
        given.refuse_value(f"the operator {given.operator} given for {field}; allowed: {allowed};")
    try:
        pattern = LinearPattern(given.value.text)
    except BadPattern as error:
        given.refuse_value(f"the service can't search for this regular expression: {error};")
    return Resemblance(field, pattern, negated=given.operator == "!~")


def _time(given: Restriction) -> datetime:
    if given.comparator is Comparator.MATCHES:
        given.refuse_value("the operator : given for a time; allowed: = != < <= > >=;")
    return given.time()


def _severity(given: Restriction) -> int:
    """Reads a severity, by name or by Cloud Logging's numbers: 100 for each step."""
    text = given.value.text.upper()
    if text.isascii() and text.isdigit() and len(text) < 5:
        return int(text) // 100
    if text not in SEVERITIES:
        given.refuse_value(f"unknown severity; allowed: {', '.join(SEVERITIES)};")
    return SEVERITIES.index(text)
