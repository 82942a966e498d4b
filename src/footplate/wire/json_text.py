"""Parses JSON text strictly, rejecting what later layers cannot handle."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass
from math import isinf
from typing import TYPE_CHECKING, NoReturn

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.text_validation import STORABLE, storable

if TYPE_CHECKING:
    from pydantic import JsonValue

JsonObject = dict[str, "JsonValue"]

MAX_DEPTH = 100
"""Objects and lists within each other; Google's own parser stops there, too."""
MAX_VALUES = 300_000
"""Keys, values and items in all: no request has as many, and a million take seconds to look at."""

_TOO_DEEP = f"the JSON is nested too deeply; allowed: {MAX_DEPTH} levels"


def parse_object(body: bytes) -> JsonObject:
    """Parses a JSON object.

    Its strings can be encoded as UTF-8 and contain no NUL, its numbers are finite, its keys are
    distinct, and its depth and number of values are limited.

    Raises:
        InvalidArgument: the body is no such object; the message says why and, if known, where.
    """
    try:
        value = json.loads(
            body.decode("utf-8-sig"),
            parse_constant=_refuse_constant,
            object_pairs_hook=_distinct,
        )
    except UnicodeDecodeError as error:
        raise InvalidArgument(f"the body is not UTF-8: byte {error.start} is wrong") from None
    except json.JSONDecodeError as error:
        place = f"line {error.lineno} column {error.colno}"
        raise InvalidArgument(f"the body is not JSON: {error.msg} at {place}") from None
    except RecursionError:
        raise InvalidArgument(_TOO_DEEP) from None
    except ValueError:
        raise InvalidArgument("the body is not JSON: a number has too many digits") from None
    if not isinstance(value, dict):
        raise InvalidArgument(f"the body is {describe(value)}; allowed: a JSON object")
    _check_tree(value)
    return value


def objects(value: JsonValue) -> list[JsonObject]:
    """Returns the objects of a list; none if ``value`` is no list."""
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def format_object(value: JsonObject) -> str:
    """Formats an object as canonical text: compact, with keys in their given order."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def describe(value: object, limit: int = 100) -> str:
    """Formats a value as JSON, short enough for a message."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (ValueError, RecursionError):
        text = f"a {type(value).__name__}"
    return text if len(text) <= limit else f"{text[:limit]}..."


def _refuse_constant(name: str) -> NoReturn:
    raise InvalidArgument(f"the body is not JSON: {name} is not a number; allowed: finite numbers")


def _distinct(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    made = dict(pairs)
    if len(made) != len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise InvalidArgument(f"the body has the key {describe(twice)} twice in one object")
    return made


def _check_tree(root: JsonValue) -> None:
    """Checks depth and size without recursion, since the depth is what is being checked."""
    level: list[JsonValue] = [root]
    left = MAX_VALUES
    for _ in range(MAX_DEPTH):
        left -= len(level)
        if left < 0:
            raise InvalidArgument(f"the body has too many values; allowed: {MAX_VALUES}")
        inner: list[JsonValue] = []
        for value in level:
            if isinstance(value, dict):
                inner.extend(value)
                inner.extend(value.values())
            elif isinstance(value, list):
                inner.extend(value)
            elif problem := _problem(value):
                violation = Violation(_field(root, value), problem)
                raise InvalidArgument.of((violation,))
        if not inner:
            return
        level = inner
    raise InvalidArgument(_TOO_DEEP)


def _problem(value: JsonValue) -> str:
    """Returns what is wrong with a scalar; empty: nothing is."""
    if isinstance(value, float) and isinf(value):
        return "the number is too large; allowed: numbers that a double can hold"
    if isinstance(value, str) and not storable(value):
        return f"{value[:80]!a} given; allowed: {STORABLE}"
    return ""


def _shown(key: str) -> str:
    return key[:80].encode(errors="backslashreplace").decode()


def _field(root: JsonValue, wrong: JsonValue) -> str:
    """Returns the path of the first value that is ``wrong``, or of the object with such a key.

    Each place refers to its parent, and a path is built only for one place: keys may be long and
    many.
    """
    left: list[_Place] = [_Place(root)]
    while left:
        place = left.pop()
        value = place.value
        if value is wrong:
            return place.path()
        if isinstance(value, dict):
            if any(key is wrong for key in value):
                return f"a key of {place.path()}"
            left.extend(_Place(value[key], f".{_shown(key)}", place) for key in reversed(value))
        elif isinstance(value, list):
            left.extend(_Place(value[n], f"[{n}]", place) for n in reversed(range(len(value))))
    raise AssertionError("the value with the problem was found before")


@dataclass(frozen=True, eq=False)
class _Place:
    value: JsonValue
    step: str = ""
    outer: _Place | None = None

    def path(self) -> str:
        steps, place = [], self
        while place.outer is not None:
            steps.append(place.step)
            place = place.outer
        return "".join(reversed(steps)).removeprefix(".") or "the body"
