"""Matches entries against a query."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import assert_never
from urllib.parse import unquote

from footplate.domain.filters import OPERATORS, Comparator, evaluator
from footplate.domain.log_lines import Entry
from footplate.wire.json_text import JsonObject
from footplate.wire.log_severity import SEVERITIES
from footplate.wire.logging_v2.queries import (
    LOG_ID,
    TIMES,
    Comparison,
    Condition,
    Query,
    Resemblance,
    Word,
)

_EXACT = frozenset({"resource.labels.job_id", "resource.labels.project_id", "insertId"})
"""Ids; other texts are compared without regard to case, as Cloud Logging does."""


def matches(query: Query, entry: Entry, document: JsonObject) -> bool:
    """Returns whether an entry matches a query; ``document`` is the entry's JSON in answers."""

    def holds(condition: Condition) -> bool:
        match condition:
            case Comparison():
                return _compare(condition, entry, document)
            case Resemblance(pattern=pattern, negated=negated):
                found = (_spell(value) for value in _find(document, condition.field))
                return any(pattern.search(text) != negated for text in found)
            case Word(text=text):
                return any(text in _spell(value).casefold() for value in _scalars(document))
            case _:
                assert_never(condition)

    return evaluator(holds)(query)


def _compare(comparison: Comparison, entry: Entry, document: JsonObject) -> bool:
    if comparison.field in TIMES:
        return _holds(comparison, entry.timestamp)
    if comparison.field == "severity":
        return _holds(comparison, SEVERITIES.index(entry.line.severity))
    if comparison.field == LOG_ID:
        log = unquote(str(document["logName"]).rpartition("/")[2])
        return _holds(comparison, log.casefold())
    if comparison.comparator is Comparator.MATCHES and comparison.value == "*":
        value = _at(document, comparison.field)
        return value is not None and value != []
    return any(_holds(comparison, value) for value in _find(document, comparison.field))


def _holds(comparison: Comparison, found: object) -> bool:
    """Returns whether a comparison is true: of numbers if both are numbers, else of texts."""
    wanted: object = comparison.value
    if isinstance(wanted, str):
        number = _number(wanted)
        if isinstance(found, int | float) and not isinstance(found, bool) and number is not None:
            wanted = number
        elif comparison.field in _EXACT:
            found = _spell(found)
        else:
            wanted, found = wanted.casefold(), _spell(found).casefold()
    if comparison.comparator is Comparator.MATCHES:
        if isinstance(wanted, str) and isinstance(found, str):
            return wanted in found
        return wanted == found
    return bool(OPERATORS[comparison.comparator](found, wanted))


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _spell(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _find(document: JsonObject, path: str) -> Iterator[object]:
    """Yields the scalar at ``path``, or the scalars of a list there."""
    value = _at(document, path)
    for each in value if isinstance(value, list) else [value]:
        if each is not None and not isinstance(each, dict | list):
            yield each


def _at(document: JsonObject, path: str) -> object:
    """Returns the value at a path; None: there is none. Keys of labels may contain dots."""
    for prefix in ("resource.labels.", "labels."):
        if path.startswith(prefix):
            parts = [*prefix.rstrip(".").split("."), path.removeprefix(prefix)]
            break
    else:
        parts = path.split(".")
    value: object = document
    for part in parts:
        value = value.get(part) if isinstance(value, dict) else None
    return value


def _scalars(value: object) -> Iterator[object]:
    """Yields all scalars in a document; its depth is limited."""
    if isinstance(value, dict | list):
        for each in value.values() if isinstance(value, dict) else value:
            yield from _scalars(each)
    elif value is not None:
        yield value
