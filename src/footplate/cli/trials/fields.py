"""Fields of trials, as exports have them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from footplate.cli.jobs.kinds import job_commands
from footplate.domain.errors import NotFound
from footplate.wire.timestamps import parse_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.wire.footplate_v1.trials import Trial, TrialList


Value = str | float | bool | None


@dataclass(frozen=True)
class Field:
    """A field of trials. ``name`` is its shortest unique name."""

    name: str
    read: Callable[[Trial], Value]


def seconds(trial: Trial, now: datetime | None = None) -> float | None:
    """Returns how long the trial ran, or has run until ``now``; None if it hasn't begun."""
    if not trial.start_time:
        return None
    end = parse_time(trial.end_time) if trial.end_time else now
    if end is None:
        return None
    return max(0.0, (end - parse_time(trial.start_time)).total_seconds())


def utc_now() -> datetime:
    return datetime.now(UTC)


def metric_value(trial: Trial, name: str) -> float | None:
    """Returns the metric's value, perhaps not finite; for a running trial the latest."""
    return trial.measured.values.get(name) if trial.measured else None


def parameter_value(trial: Trial, name: str) -> Value:
    value = trial.parameters.get(name)
    return value if isinstance(value, str | float | int | None) else str(value)


_BETWEEN: tuple[Field, ...] = (Field("step", lambda t: t.measured.step if t.measured else None),)
_AFTER: tuple[Field, ...] = (
    Field("start_time", lambda t: t.start_time),
    Field("end_time", lambda t: t.end_time),
    Field("seconds", seconds),
    Field("machine_seconds", lambda t: t.machine_seconds),
    Field("stopped_early", lambda t: bool(t.stop_reason)),
    Field("stop_reason", lambda t: t.stop_reason),
    Field("infeasible_reason", lambda t: t.infeasible_reason),
    Field("suggested_as", lambda t: t.suggestion.reason if t.suggestion else ""),
    Field("suggestion", lambda t: t.suggestion.sentence if t.suggestion else ""),
)


def fields(view: TrialList) -> list[Field]:
    """Returns all fields, in the order of an export.

    A metric or parameter with the name of another field has only its long name.
    """
    before = (
        Field("trial", lambda t: t.number),
        Field("state", view.shown_state),
        Field("best", lambda t: t.number in view.best),
    )
    taken = {field.name for field in (*before, *_BETWEEN, *_AFTER)}
    metrics = [_metric(name, taken) for name in view.goals]
    taken.update(field.name for field in metrics)
    parameters = [_parameter(name, taken) for name in view.parameters]
    return [*before, *metrics, *_BETWEEN, *parameters, *_AFTER]


def _metric(name: str, taken: set[str]) -> Field:
    shown = f"metrics.{name}" if name in taken else name
    return Field(shown, lambda trial: metric_value(trial, name))


def _parameter(name: str, taken: set[str]) -> Field:
    shown = f"parameters.{name}" if name in taken else name
    return Field(shown, lambda trial: parameter_value(trial, name))


def find_trial(view: TrialList, number: int, flags: str) -> Trial:
    """Returns the trial. Raises NotFound, which names the existing ones.

    ``flags`` are those of the commands that show trials.
    """
    for trial in view.trials:
        if trial.number == number:
            return trial
    there = "the job has no trials yet"
    if view.trials:
        there = f"the job has trials {view.trials[0].number} to {view.trials[-1].number}"
    command = job_commands(view.job, flags)["trials"]
    raise NotFound(f"job {view.job.job_id} has no trial {number}: {there}; see `{command}`")
