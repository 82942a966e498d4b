"""``--filter``: gcloud's filter expressions, evaluated on printed fields.

Source: ``gcloud topic filters``. Texts are compared whatever their case. Where ``AND`` and ``OR``
meet, ``OR`` binds stronger, as in the filters of the API; gcloud wants parentheses there.
"""

from __future__ import annotations

import fnmatch
import operator
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.cli.formats.format_spec import read, snake_case
from footplate.cli.formats.grammar import read_path
from footplate.cli.formats.times import spoken_time, stamp
from footplate.cli.formats.transforms import text_of
from footplate.domain.errors import InvalidArgument
from footplate.domain.formatting import quoted
from footplate.wire.filter_parser import LogicalOperators, Restriction, parse_expression
from footplate.wire.filter_tokens import Dialect, Kind
from footplate.wire.timestamps import format_time

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from pydantic import JsonValue

    from footplate.cli.formats.format_spec import Path, Resource
    from footplate.cli.jobs.kinds import States

_MOST = 100
"""Comparisons of one expression."""
ORDERS: dict[str, Callable[..., bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Comparison:
    """``path`` empty: any field. ``time`` is that of a value that names one."""

    path: Path
    operator: str
    text: str
    time: datetime | None = None
    pattern: re.Pattern[str] | None = None

    def holds(self, resource: Resource) -> bool:
        if self.operator == "!=":
            return not any(_equal(part, self.text) for part in self._parts(resource))
        return any(self._holds_of(part) for part in self._parts(resource))

    def _parts(self, resource: Resource) -> Iterator[JsonValue]:
        if not self.path:
            return _leaves(dict(resource))
        value = read(resource, self.path)
        if self.operator == ":" and isinstance(value, dict):
            return iter([*value, *_leaves(value)])
        return iter(value if isinstance(value, list) else [value])

    def _holds_of(self, value: JsonValue) -> bool:
        if value is None:
            return False
        match self.operator:
            case ":":
                return _has(text_of(value), self.text)
            case "=":
                return _equal(value, self.text)
            case "~":
                return bool(self.pattern and self.pattern.search(text_of(value)))
            case _:
                return self._in_order(value)

    def _in_order(self, value: JsonValue) -> bool:
        """As times, else as numbers, else as texts."""
        order = ORDERS[self.operator]
        if self.time is not None and (found := stamp(value)) is not None:
            return order(found, self.time)
        left, right = _number(text_of(value)), _number(self.text)
        if left is not None and right is not None:
            return order(left, right)
        return order(text_of(value).casefold(), self.text.casefold())


@dataclass(frozen=True)
class AllOf:
    parts: tuple[Condition, ...]

    def holds(self, resource: Resource) -> bool:
        return all(part.holds(resource) for part in self.parts)


@dataclass(frozen=True)
class AnyOf:
    parts: tuple[Condition, ...]

    def holds(self, resource: Resource) -> bool:
        return any(part.holds(resource) for part in self.parts)


@dataclass(frozen=True)
class NoneOf:
    part: Condition

    def holds(self, resource: Resource) -> bool:
        return not self.part.holds(resource)


Condition = Comparison | AllOf | AnyOf | NoneOf
_OPERATORS_OF_LOGIC: LogicalOperators[Condition] = LogicalOperators(AllOf, AnyOf, NoneOf)


def read_condition(text: str, now: datetime) -> Condition:
    """Times such as ``-p1d`` are counted from ``now``.

    Raises:
        InvalidArgument: names the place, what is wrong there and what is allowed.
    """
    found: Condition = parse_expression(
        text, lambda given: _compare(given, now), _OPERATORS_OF_LOGIC, _MOST, Dialect.GCLOUD
    )
    return found


def comparisons(condition: Condition) -> Iterator[Comparison]:
    """All of them, however they are joined."""
    match condition:
        case Comparison():
            yield condition
        case NoneOf(part):
            yield from comparisons(part)
        case AllOf(parts) | AnyOf(parts):
            for part in parts:
                yield from comparisons(part)


def fields(condition: Condition) -> list[str]:
    """Those that it asks for, but for labels, which come and go."""
    paths = [one.path for one in comparisons(condition) if one.path]
    names = [".".join(str(part) for part in path) for path in paths if path[0] != "labels"]
    return [name for name in dict.fromkeys(names) if "Whole" not in name]


def _compare(given: Restriction, now: datetime) -> Condition:
    if not given.name.text:
        return Comparison((), ":", given.value.text)
    try:
        path = read_path(given.field)
    except InvalidArgument:
        given.refuse_name("allowed: the path of a field, such as labels.team;")
    return comparison_of(given, path, now)


def comparison_of(given: Restriction, path: Path, now: datetime) -> Comparison:
    """Raises InvalidArgument: the value can't be compared so."""
    text = given.value.text
    if given.value.kind is Kind.WORD and text.startswith("="):
        given.refuse_value(f"{given.operator}= is no comparator;")
    pattern = _pattern(given) if given.operator == "~" else None
    time = spoken_time(text, now) if given.operator in ORDERS else None
    return Comparison(path, given.operator, text, time, pattern)


def _pattern(given: Restriction) -> re.Pattern[str]:
    try:
        return re.compile(given.value.text)
    except re.error as error:
        given.refuse_value(f"not a regular expression: {error};")


def _equal(value: JsonValue, wanted: str) -> bool:
    if value is None:
        return False
    text = text_of(value)
    if text.casefold() == wanted.casefold():
        return True
    left, right = _number(text), _number(wanted)
    return left is not None and left == right


def _has(text: str, wanted: str) -> bool:
    """``*`` alone: there is something. With one in it the whole text is matched."""
    folded, pattern = text.casefold(), wanted.casefold()
    if pattern == "*":
        return bool(folded)
    if "*" in pattern:
        return fnmatch.fnmatchcase(folded, pattern.replace("[", "[[]").replace("?", "[?]"))
    return pattern in folded


def _leaves(value: JsonValue) -> Iterator[JsonValue]:
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _leaves(part)
    else:
        yield value


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


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
