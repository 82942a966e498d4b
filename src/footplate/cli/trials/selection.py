"""Fields of trials; selects and sorts trials by them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

from footplate.cli.formats.printers import rank
from footplate.cli.jobs.kinds import job_commands
from footplate.cli.lists.filter_expression import ORDERS, Comparison, comparison_of
from footplate.domain.errors import InvalidArgument, NotFound
from footplate.wire.filter_parser import LogicalOperators, Restriction, parse_expression
from footplate.wire.filter_tokens import Dialect
from footplate.wire.footplate_v1.trial_selection import quote_names
from footplate.wire.timestamps import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pydantic import JsonValue

    from footplate.client.trials import TrialsView, TrialView

    Condition: TypeAlias = Callable[[TrialView], bool]

Value = str | float | bool | None

TIMES = ("start_time", "end_time")
METRIC = "metrics."
PARAMETER = "parameters."


@dataclass(frozen=True)
class Field:
    """``name`` is as short as it can be without being that of another one."""

    name: str
    read: Callable[[TrialView], Value]


def seconds(trial: TrialView, now: datetime | None = None) -> float | None:
    """How long it ran; one that still runs: until ``now``. None: it hasn't begun."""
    if not trial.start_time:
        return None
    end = parse_time(trial.end_time) if trial.end_time else now
    if end is None:
        return None
    return max(0.0, (end - parse_time(trial.start_time)).total_seconds())


def utc_now() -> datetime:
    return datetime.now(UTC)


def metric_value(trial: TrialView, name: str) -> float | None:
    """Not always finite; of one that runs: the latest."""
    return trial.final.values.get(name) if trial.final else None


def parameter_value(trial: TrialView, name: str) -> Value:
    return _plain(trial.parameters.get(name))


_BEFORE: tuple[Field, ...] = (
    Field("trial", lambda t: t.number),
    Field("state", lambda t: t.shown_state),
    Field("best", lambda t: t.best),
)
_BETWEEN: tuple[Field, ...] = (Field("step", lambda t: t.final.step if t.final else None),)
TRAINING_STEP = "training_steps"
"""What AI Platform's pages call the step; filters and orders take it, exports don't repeat it."""
_AFTER: tuple[Field, ...] = (
    Field("start_time", lambda t: t.start_time),
    Field("end_time", lambda t: t.end_time),
    Field("seconds", seconds),
    Field("machine_seconds", lambda t: t.machine_s),
    Field("stopped_early", lambda t: bool(t.stop_reason)),
    Field("stop_reason", lambda t: t.stop_reason),
    Field("infeasible_reason", lambda t: t.infeasible_reason),
    Field("suggested_as", lambda t: t.suggestion.reason if t.suggestion else ""),
    Field("suggestion", lambda t: t.suggestion.sentence if t.suggestion else ""),
)


def fields(view: TrialsView) -> list[Field]:
    """All of them, in the order of an export.

    A metric or parameter that is named like another field has its long name only.
    """
    taken = {field.name for field in (*_BEFORE, *_BETWEEN, *_AFTER)}
    metrics = [_metric(name, taken) for name in view.metrics]
    taken.update(field.name for field in metrics)
    parameters = [_parameter(name, taken) for name in view.parameters]
    return [*_BEFORE, *metrics, *_BETWEEN, *parameters, *_AFTER]


def by_name(view: TrialsView) -> Mapping[str, Field]:
    """Short and long names alike."""
    long: Sequence[Field] = [
        Field(TRAINING_STEP, _BETWEEN[0].read),
        *(_metric(name, {name}) for name in view.metrics),
        *(_parameter(name, {name}) for name in view.parameters),
    ]
    return {field.name: field for field in (*long, *fields(view))}


def _metric(name: str, taken: set[str]) -> Field:
    shown = f"{METRIC}{name}" if name in taken else name
    return Field(shown, lambda trial: metric_value(trial, name))


def _parameter(name: str, taken: set[str]) -> Field:
    shown = f"{PARAMETER}{name}" if name in taken else name
    return Field(shown, lambda trial: parameter_value(trial, name))


def _plain(value: JsonValue) -> Value:
    return value if isinstance(value, str | float | int | None) else str(value)


_MAX_COMPARISONS = 100


def find_trial(view: TrialsView, number: int, flags: str) -> TrialView:
    """Raises NotFound: says which there are. ``flags``: of the commands that show them."""
    for trial in view.trials:
        if trial.number == number:
            return trial
    there = "it has no trials yet"
    if view.trials:
        there = f"it has trials {view.trials[0].number} to {view.trials[-1].number}"
    command = job_commands(view.job, flags)["trials"]
    raise NotFound(f"job {view.job.job_id} has no trial {number}: {there}; see `{command}`")


def select(view: TrialsView, condition: str, sort_by: str, limit: int | None) -> list[TrialView]:
    """Those that match, ordered by fields (``~`` before one: descending), ``limit`` at most.

    Trials that lack a field, or whose value is no number there, come last either way.

    Raises:
        InvalidArgument: a field that there isn't, or no expression; says what is allowed.
    """
    names = by_name(view)
    found = list(view.trials)
    if condition.strip():
        matches = _condition(condition, names, view.states)
        found = [trial for trial in found if matches(trial)]
    return _ordered(found, sort_by, names)[:limit]


def _ordered(
    trials: Sequence[TrialView], sort_by: str, names: Mapping[str, Field]
) -> list[TrialView]:
    found = list(trials)
    for order in reversed(_orders(sort_by, names)):
        field = names.get(order.removeprefix("~"))
        if field is None:
            raise InvalidArgument(f"--sort-by: {order!r} given; allowed: {', '.join(names)}")
        found = _ordered_by(field, found, descending=order.startswith("~"))
    return found


def _ordered_by(field: Field, trials: list[TrialView], *, descending: bool) -> list[TrialView]:
    there = [trial for trial in trials if _is_there(field, trial)]
    absent = [trial for trial in trials if not _is_there(field, trial)]
    there.sort(key=lambda trial: rank(field.read(trial)), reverse=descending)
    return [*there, *absent]


def _is_there(field: Field, trial: TrialView) -> bool:
    value = field.read(trial)
    return not (value is None or (isinstance(value, float) and math.isnan(value)))


def _orders(sort_by: str, names: Mapping[str, Field]) -> list[str]:
    """The first one counts most. A parameter's name may have commas."""
    whole = sort_by.strip()
    if not whole or whole.removeprefix("~") in names:
        return [whole] if whole else []
    return [name.strip() for name in whole.split(",")]


def _condition(text: str, names: Mapping[str, Field], states: Sequence[str]) -> Condition:
    operators_of_logic: LogicalOperators[Condition] = LogicalOperators(
        all_of=lambda parts: lambda trial: all(part(trial) for part in parts),
        any_of=lambda parts: lambda trial: any(part(trial) for part in parts),
        negation_of=lambda part: lambda trial: not part(trial),
    )
    now = utc_now()

    def compare(given: Restriction) -> Condition:
        return _compare(given, names, states, now)

    return parse_expression(
        quote_names(text, names),
        compare,
        operators_of_logic,
        _MAX_COMPARISONS,
        Dialect.GCLOUD,
        quoted_names=True,
    )


def _compare(
    given: Restriction, names: Mapping[str, Field], states: Sequence[str], now: datetime
) -> Condition:
    """Of texts whatever their case, as in all lists."""
    if not given.name.text:
        given.refuse_value("no comparator (= != : < <= > >= ~ !~) beside it;")
    # As in all lists, a name with blanks may be quoted behind its dot: metrics."val loss".
    field = names.get(given.field) or names.get(given.field.replace('"', ""))
    if field is None:
        given.refuse_name(f"unknown field; allowed: {', '.join(names)};")
    wanted = given.value.text
    if field.name == "state" and given.operator in ("=", "!=") and wanted.upper() not in states:
        given.refuse_value(f"unknown state; allowed: {', '.join(states)};")
    comparison = comparison_of(given, (field.name,), now)
    if given.operator in ORDERS:
        _check_order(given, field, comparison)
    return lambda trial: comparison.holds({field.name: field.read(trial)})


def _check_order(given: Restriction, field: Field, comparison: Comparison) -> None:
    """What stands in an order is a time or a number."""
    if field.name in TIMES:
        if comparison.time is None:
            given.refuse_value("no time; allowed: such as 2026-11-21T08:00 or -pt2h;")
    elif not _is_number(given.value.text):
        given.refuse_value("no number;")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
