"""``filter`` and ``orderBy`` of trial lists.

Fields are the metrics and parameters of the search, and those of ``_FIXED``. A name that several of
them have is the fixed field's, then the metric's; ``metrics.NAME`` and ``parameters.NAME`` always
work. ``state`` is compared in the words of both APIs. Names in snake_case are those of the CSV that
``footplate`` writes. Names may stand in quotes; those with blanks
need none, as the search says which they are.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeAlias

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.filters import EXACT, OPERATORS, Comparator, evaluator
from footplate.wire.filters.parser import Dialect, Kind, Restriction, parse_expression
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import parse_time
from footplate.wire.trial_states import STATES, TRAINING_STATES, training_state

if TYPE_CHECKING:
    from pydantic import JsonValue

    Value: TypeAlias = str | float | bool | None
    Read: TypeAlias = Callable[[JsonObject], Value]
    Condition: TypeAlias = Callable[[JsonObject], bool]

_QUOTED_NAMES = Dialect(names=(Kind.WORD, Kind.QUOTED))
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"
_PLAIN = re.compile(r"(?!-)[^\s()\"'<>=!:,]+")
_TO_THE_END = r"\"(?:[^\"\\]|\\.?)*+\"?|'(?:[^'\\]|\\.?)*+'?"
_PARTS = re.compile(rf"(?:{_TO_THE_END}|[^,\"'])++|(?<=,)(?=,|$)|^(?=,)")
"""The fields of an order, also empty ones, which are refused. A quote that isn't closed goes on to
the end: to look for its end at each quote would take quadratic time.
"""


def select_trials(answer: JsonObject, condition: str, order_by: str) -> JsonObject:
    """Returns ``answer`` with only the trials that match, in the requested order.

    ``order_by`` has fields, the most important first, each optionally followed by ``desc``; trials
    without a value come last.

    Raises:
        InvalidArgument: names the place, or the field, and what is allowed.
    """
    names = _fields(answer)
    trials = [each for each in _list(answer["trials"]) if isinstance(each, dict)]
    text = quote_names(condition, names)
    where = parse_expression(text, lambda given: _compare(given, names), _QUOTED_NAMES)
    if where is not None:
        trials = [each for each in trials if evaluator(partial(_holds, each))(where)]
    for field, descending in reversed(_orders(order_by, names)):
        there = [trial for trial in trials if field(trial) is not None]
        absent = [trial for trial in trials if field(trial) is None]
        there.sort(key=lambda trial: _rank(field(trial)), reverse=descending)
        trials = [*there, *absent]
    return {**answer, "trials": list(trials)}


def _holds(trial: JsonObject, condition: Condition) -> bool:
    return condition(trial)


def _fields(answer: JsonObject) -> dict[str, Read]:
    best = _list(answer.get("best"))
    metrics = [str(each["name"]) for each in _list(answer["metrics"]) if isinstance(each, dict)]
    parameters = [str(name) for name in _list(answer["parameters"])]
    return {
        **{name: _parameter(name) for name in parameters},
        **{name: _metric(name) for name in metrics},
        **{f"parameters.{name}": _parameter(name) for name in parameters},
        **{f"metrics.{name}": _metric(name) for name in metrics},
        **_FIXED,
        "best": lambda trial: trial.get("number") in best,
    }


def _metric(name: str) -> Read:
    return lambda trial: _number(_object(_measured(trial).get("values")).get(name))


def _parameter(name: str) -> Read:
    return lambda trial: _plain(_object(trial.get("parameters")).get(name))


def _key(name: str) -> Read:
    return lambda trial: _plain(trial.get(name))


def _measured(trial: JsonObject) -> JsonObject:
    """Returns the measurement that judges a trial; for a running trial its latest report."""
    return _object(trial.get("final") or trial.get("latest"))


def _step(trial: JsonObject) -> Value:
    return _number(_measured(trial).get("step"))


def _seconds(trial: JsonObject) -> Value:
    start, end = trial.get("startTime"), trial.get("endTime")
    if not start or not end:
        return None
    return (parse_time(str(end)) - parse_time(str(start))).total_seconds()


def _suggestion(key: str) -> Read:
    return lambda trial: _plain(_object(trial.get("suggestion")).get(key))


_TIMES = ("startTime", "start_time", "endTime", "end_time")
_FIXED: Mapping[str, Read] = MappingProxyType(
    {
        "number": _key("number"),
        "trial": _key("number"),
        "state": _key("state"),
        "step": _step,
        "training_steps": _step,
        "startTime": _key("startTime"),
        "start_time": _key("startTime"),
        "endTime": _key("endTime"),
        "end_time": _key("endTime"),
        "seconds": _seconds,
        "machineSeconds": _key("machineSeconds"),
        "machine_seconds": _key("machineSeconds"),
        "stoppedEarly": _key("stoppedEarly"),
        "stopped_early": _key("stoppedEarly"),
        "stopReason": _key("stopReason"),
        "stop_reason": _key("stopReason"),
        "infeasibleReason": _key("infeasibleReason"),
        "infeasible_reason": _key("infeasibleReason"),
        "suggested_as": _suggestion("reason"),
        "suggestion": _suggestion("sentence"),
    }
)


def spell(name: str) -> str:
    """Returns a field's spelling in filters and orders: in quotes if necessary."""
    if _PLAIN.fullmatch(name):
        return name
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def quote_names(text: str, names: Iterable[str]) -> str:
    """Returns ``text`` with quotes around names that contain blanks and precede a comparator.

    The longest matching name counts. Quoted parts of the text stay unchanged.
    """
    blank = sorted((name for name in names if re.search(r"\s", name)), key=len, reverse=True)
    if not blank:
        return text
    either = "|".join(re.escape(name) for name in blank)
    known = re.compile(rf"{_QUOTED}|(?<![^\s(-])(?P<name>{either})(?=\s*[=<>!:])")
    return known.sub(lambda hit: spell(hit["name"]) if hit["name"] else hit[0], text)


def _compare(given: Restriction, names: Mapping[str, Read]) -> Condition:
    read, wanted = names.get(given.field), given.value.text
    if read is None:
        given.refuse_name(f"unknown field; allowed: {', '.join(map(spell, names))};")
    if given.field == "state":
        read = _state_reader(given) or read
    if given.comparator is Comparator.MATCHES:
        return lambda trial: wanted.lower() in str(read(trial) or "").lower()
    if given.comparator in EXACT:
        return lambda trial: _equal(read(trial), wanted) is (given.comparator is Comparator.EQUAL)
    return _ordered(given, read)


def _ordered(given: Restriction, read: Read) -> Condition:
    """Returns a condition that compares numbers, or times, whose texts sort in order of time."""
    holds, text = OPERATORS[given.comparator], given.value.text
    if given.field in _TIMES:
        return lambda trial: bool(time := str(read(trial) or "")) and holds(time, text)
    wanted = _number(text)
    if wanted is None:
        given.refuse_value("no number;")
    return lambda trial: (number := _number(read(trial))) is not None and holds(number, wanted)


def _equal(value: Value, wanted: str) -> bool:
    number = _number(wanted)
    if isinstance(value, bool) or number is None or not isinstance(value, int | float):
        return str("" if value is None else value).lower() == wanted.lower()
    return value == number


def _state_reader(given: Restriction) -> Read | None:
    """Returns a reader for states of ml v1, if the filter has one; refuses unknown states."""
    wanted = given.value.text.upper()
    if given.comparator in EXACT and wanted not in (*STATES, *TRAINING_STATES):
        allowed = ", ".join(dict.fromkeys((*STATES, *TRAINING_STATES)))
        given.refuse_value(f"unknown state; allowed: {allowed};")
    return _training_state if wanted in TRAINING_STATES else None


def _training_state(trial: JsonObject) -> Value:
    run_state = _object(trial.get("run")).get("state")
    texts = (str(value or "") for value in (trial.get("state"), trial.get("outcome"), run_state))
    return training_state(*texts)


def _orders(text: str, names: Mapping[str, Read]) -> list[tuple[Read, bool]]:
    return [_order(part.strip(), names) for part in _PARTS.findall(text) if text.strip()]


def _order(text: str, names: Mapping[str, Read]) -> tuple[Read, bool]:
    """Parses one field of an order, with its direction.

    A name may itself end with the word ``desc``, so a whole name is tried before a name with a
    direction.
    """
    spelled = {spelling: name for name in names for spelling in (name, spell(name), f'"{name}"')}
    if text in spelled:
        return names[spelled[text]], False
    name, _, direction = text.rpartition(" ")
    if name.strip() in spelled and direction.lower() in ("asc", "desc"):
        return names[spelled[name.strip()]], direction.lower() == "desc"
    allowed = f"FIELD, or FIELD desc, of {', '.join(map(spell, names))}"
    raise InvalidArgument.of((Violation("orderBy", f"{text[:100]!r} given; allowed: {allowed}"),))


def _rank(value: Value) -> tuple[int, float, str]:
    """Returns a key that sorts numbers by size, and before texts."""
    if isinstance(value, str):
        return 1, 0.0, value
    return 0, float(value or 0), ""


def _number(value: object) -> float | None:
    """Converts a value, perhaps a text such as Infinity, to a number; None: it isn't one."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _plain(value: JsonValue) -> Value:
    return value if isinstance(value, str | int | float | None) else str(value)


def _object(value: JsonValue) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, list) else ()
