"""Matches entries against a query."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, assert_never

from footplate.domain.filters import Comparator
from footplate.wire.log_severity import SEVERITIES
from footplate.wire.logging_v2.queries import TIMES, And, Comparison, Not, Or, Query

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.log_lines import Entry
    from footplate.wire.json_text import JsonObject

_EXACT = frozenset({"resource.labels.job_id", "resource.labels.project_id", "insertId"})
"""Ids; other texts are compared without regard to case, as Cloud Logging does."""

_OPERATORS: dict[Comparator, Callable[[Any, Any], bool]] = {
    Comparator.EQUAL: operator.eq,
    Comparator.NOT_EQUAL: operator.ne,
    Comparator.LESS: operator.lt,
    Comparator.LESS_OR_EQUAL: operator.le,
    Comparator.GREATER: operator.gt,
    Comparator.GREATER_OR_EQUAL: operator.ge,
}


def matches(query: Query, entry: Entry, document: JsonObject) -> bool:
    """``document`` is ``entry`` as it is answered."""
    match query:
        case Comparison():
            return _compare(query, entry, document)
        case And():
            return all(matches(part, entry, document) for part in query.parts)
        case Or():
            return any(matches(part, entry, document) for part in query.parts)
        case Not():
            return not matches(query.part, entry, document)
        case _:
            assert_never(query)


def _compare(comparison: Comparison, entry: Entry, document: JsonObject) -> bool:
    if comparison.field in TIMES:
        return _holds(comparison, entry.timestamp)
    if comparison.field == "severity":
        return _holds(comparison, SEVERITIES.index(entry.line.severity))
    found = _find(document, comparison.field)
    if found is None:
        return False
    if comparison.field in _EXACT:
        return _holds(comparison, found)
    return _holds(comparison, found.casefold())


def _holds(comparison: Comparison, found: object) -> bool:
    """Texts that aren't ids come casefolded."""
    wanted = comparison.value
    if isinstance(wanted, str) and comparison.field not in _EXACT:
        wanted = wanted.casefold()
    if comparison.comparator is Comparator.MATCHES:
        if isinstance(wanted, str) and isinstance(found, str):
            return wanted == "*" or wanted in found
        return wanted == found
    return _OPERATORS[comparison.comparator](found, wanted)


def _find(document: JsonObject, path: str) -> str | None:
    """The scalar at ``path`` as a text; None where there is none. Keys of labels hold dots."""
    for prefix in ("resource.labels.", "labels."):
        if path.startswith(prefix):
            parts = [*prefix.rstrip(".").split("."), path.removeprefix(prefix)]
            break
    else:
        parts = path.split(".")
    value: object = document
    for part in parts:
        value = value.get(part) if isinstance(value, dict) else None
    if value is None or isinstance(value, dict | list):
        return None
    return str(value).lower() if isinstance(value, bool) else str(value)
