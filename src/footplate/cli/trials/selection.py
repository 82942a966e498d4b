"""Selects and sorts trials."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, TypeAlias

from footplate.cli.formats.printers import rank
from footplate.cli.jobs.kinds import job_commands
from footplate.cli.lists.filter_expression import ORDERS, Comparison, comparison_of
from footplate.cli.trials.fields import TIMES, by_name, utc_now
from footplate.domain.errors import InvalidArgument, NotFound
from footplate.wire.filter_parser import LogicalOperators, Restriction, parse_expression

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from footplate.cli.trials.fields import Field
    from footplate.client.trials import TrialsView, TrialView

    Condition: TypeAlias = Callable[[TrialView], bool]

_MAX_COMPARISONS = 100


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

    return parse_expression(text, compare, operators_of_logic, _MAX_COMPARISONS, gcloud=True)


def _compare(
    given: Restriction, names: Mapping[str, Field], states: Sequence[str], now: datetime
) -> Condition:
    """Of texts whatever their case, as in all lists."""
    if not given.name.text:
        given.refuse_value("no comparator (= != : < <= > >= ~ !~) beside it;")
    # As in all lists, a name with blanks is quoted behind its dot: metrics."val loss".
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
