"""Which trials are shown, and in what order."""

from __future__ import annotations

import fnmatch
import operator
from typing import TYPE_CHECKING, TypeAlias

from footplate.cli.hints import job_commands
from footplate.cli.trials.fields import by_name
from footplate.client.trials import STATES
from footplate.domain.errors import InvalidArgument, NotFound
from footplate.domain.filters import Comparator
from footplate.wire.filter_parser import Joints, Restriction, parse_expression

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from footplate.cli.trials.fields import Field, Value
    from footplate.client.trials import TrialsView, TrialView

    Condition: TypeAlias = Callable[[TrialView], bool]

_MAX_COMPARISONS = 100

_ORDERS: dict[Comparator, Callable[[float, float], bool]] = {
    Comparator.LESS: operator.lt,
    Comparator.LESS_OR_EQUAL: operator.le,
    Comparator.GREATER: operator.gt,
    Comparator.GREATER_OR_EQUAL: operator.ge,
}


def find_trial(view: TrialsView, number: int, flags: str) -> TrialView:
    """Raises NotFound: says which there are. ``flags``: of the commands that show them."""
    for trial in view.trials:
        if trial.number == number:
            return trial
    count = len(view.trials)
    there = f"there are trials 1 to {count}" if count else "there is none yet"
    command = job_commands(view.job, flags)["trials"]
    raise NotFound(f"job {view.job.job_id} has no trial {number}: {there}; see `{command}`")


def select(view: TrialsView, condition: str, sort_by: str, limit: int | None) -> list[TrialView]:
    """Those that match, ordered by a field (``~`` before it: descending), ``limit`` at most.

    Trials that lack the field come last either way.

    Raises:
        InvalidArgument: a field that there isn't, or no expression; says what is allowed.
    """
    names = by_name(view)
    found = list(view.trials)
    if condition.strip():
        matches = _condition(condition, names)
        found = [trial for trial in found if matches(trial)]
    return _ordered(found, sort_by, names)[:limit]


def _ordered(
    trials: Sequence[TrialView], sort_by: str, names: Mapping[str, Field]
) -> list[TrialView]:
    if not sort_by:
        return list(trials)
    field = names.get(sort_by.removeprefix("~"))
    if field is None:
        raise InvalidArgument(f"--sort-by: {sort_by!r} given; allowed: {', '.join(names)}")
    there = [trial for trial in trials if field.read(trial) is not None]
    absent = [trial for trial in trials if field.read(trial) is None]
    there.sort(key=lambda trial: _rank(field.read(trial)), reverse=sort_by.startswith("~"))
    return [*there, *absent]


def _rank(value: Value) -> tuple[bool, float, str]:
    """Numbers before texts."""
    number = not isinstance(value, str) and value is not None
    return (False, float(value), "") if number else (True, 0.0, str(value))  # type: ignore[arg-type]  # told apart above


def _condition(text: str, names: Mapping[str, Field]) -> Condition:
    joints: Joints[Condition] = Joints(
        all_of=lambda parts: lambda trial: all(part(trial) for part in parts),
        any_of=lambda parts: lambda trial: any(part(trial) for part in parts),
        negation_of=lambda part: lambda trial: not part(trial),
    )
    return parse_expression(text, lambda given: _compare(given, names), joints, _MAX_COMPARISONS)


def _compare(given: Restriction, names: Mapping[str, Field]) -> Condition:
    field = names.get(given.field)
    if field is None:
        given.refuse_name(f"unknown field; allowed: {', '.join(names)};")
    comparator, wanted = given.comparator, given.value.text
    if field.name == "state" and comparator in (Comparator.EQUAL, Comparator.NOT_EQUAL):
        wanted = wanted.upper()
        if wanted not in STATES:
            given.refuse_value(f"unknown state; allowed: {', '.join(STATES)};")
    if comparator is Comparator.MATCHES:
        return lambda trial: _contains(field.read(trial), wanted)
    if comparator is Comparator.NOT_EQUAL:
        return lambda trial: not _equal(field.read(trial), wanted)
    if comparator is Comparator.EQUAL:
        return lambda trial: _equal(field.read(trial), wanted)
    holds, bound = _ORDERS[comparator], _number(wanted)
    if bound is None:
        given.refuse_value("no number;")
    return lambda trial: _numeric(field.read(trial), lambda value: holds(value, bound))


def _numeric(value: Value, holds: Callable[[float], bool]) -> bool:
    number = _number(value) if isinstance(value, str) else value
    return number is not None and holds(float(number))


def _equal(value: Value, wanted: str) -> bool:
    if isinstance(value, bool):
        return str(value).lower() == wanted.lower()
    if isinstance(value, str) or value is None:
        return value == wanted
    return _number(wanted) == float(value)


def _contains(value: Value, wanted: str) -> bool:
    text, pattern = str("" if value is None else value).lower(), wanted.lower()
    if wanted == "*":
        return bool(text)
    return fnmatch.fnmatchcase(text, pattern) if "*" in pattern else pattern in text


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
