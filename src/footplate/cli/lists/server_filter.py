"""The part of a filter that the server can evaluate."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.formats.field_paths import snake_case
from footplate.cli.lists.filter_expression import AllOf, AnyOf, Comparison, Condition, NoneOf
from footplate.domain.errors import InvalidArgument
from footplate.domain.formatting import quoted
from footplate.wire.timestamps import format_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.cli.jobs.kinds import States

_TIMES = frozenset({"create_time", "start_time", "end_time"})
_LABELS = 2
"""How long the path of a label is."""


def with_states(condition: Condition, states: States) -> Condition:
    """The condition with states as the face spells them.

    Raises:
        InvalidArgument: a state that there isn't; says which there are.
    """

    def respell(one: Comparison) -> Comparison:
        if one.path != ("state",) or one.operator not in ("=", "!="):
            return one
        name = states.spelled(one.text)
        if name not in states.names:
            known = ", ".join(states.names)
            raise InvalidArgument(f"--filter: state={quoted(one.text)} given; allowed: {known}")
        return Comparison(one.path, one.operator, name)

    return _mapped(condition, respell)


def _mapped(condition: Condition, change: Callable[[Comparison], Comparison]) -> Condition:
    match condition:
        case Comparison():
            return change(condition)
        case NoneOf(part):
            return NoneOf(_mapped(part, change))
        case AllOf(parts):
            return AllOf(tuple(_mapped(part, change) for part in parts))
        case AnyOf(parts):
            return AnyOf(tuple(_mapped(part, change) for part in parts))


def prefilter(condition: Condition | None) -> str:
    """An API filter that keeps everything ``condition`` may keep; empty: none is known."""
    if condition is None:
        return ""
    parts = condition.parts if isinstance(condition, AllOf) else (condition,)
    return " AND ".join(filter(None, map(_term, parts)))


def _term(part: Condition) -> str:
    if isinstance(part, AnyOf):
        terms = [_term(one) for one in part.parts]
        return f"({' OR '.join(terms)})" if all(terms) else ""
    if not isinstance(part, Comparison):
        return ""
    names = [name for name in part.path if isinstance(name, str)]
    if len(names) != len(part.path) or not names:
        return ""
    field = snake_case(names[0])
    if names == ["state"] and part.operator in ("=", "!="):
        return f"state{part.operator}{part.text}"
    if field in _TIMES and len(names) == 1 and part.time is not None:
        return f'{field}{part.operator}"{format_time(part.time)}"'
    if names[0] == "labels" and len(names) == _LABELS and part.operator in "=:":
        return _containing(f'labels."{names[1]}"', part.text) if '"' not in names[1] else ""
    return ""


def _containing(field: str, text: str) -> str:
    """The API's ``:``, which is wider than gcloud's ``=`` and as wide as its ``:``."""
    if not text or any(character in text for character in '*"\\'):
        return ""
    return f'{field}:"{text}"'
