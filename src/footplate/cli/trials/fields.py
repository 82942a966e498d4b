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

    from pydantic import JsonValue

    from footplate.client.trials import TrialsView, TrialView

Value = str | float | bool | None


@dataclass(frozen=True)
class Field:
    """A field of trials. ``name`` is its shortest unique name."""

    name: str
    read: Callable[[TrialView], Value]


def seconds(trial: TrialView, now: datetime | None = None) -> float | None:
    """Returns how long the trial ran, or has run until ``now``; None if it hasn't begun."""
    if not trial.start_time:
        return None
    end = parse_time(trial.end_time) if trial.end_time else now
    if end is None:
        return None
    return max(0.0, (end - parse_time(trial.start_time)).total_seconds())


def utc_now() -> datetime:
    return datetime.now(UTC)


def metric_value(trial: TrialView, name: str) -> float | None:
    """Returns the metric's value, perhaps not finite; for a running trial the latest."""
    return trial.final.values.get(name) if trial.final else None


def parameter_value(trial: TrialView, name: str) -> Value:
    return _plain(trial.parameters.get(name))


_BEFORE: tuple[Field, ...] = (
    Field("trial", lambda t: t.number),
    Field("state", lambda t: t.shown_state),
    Field("best", lambda t: t.best),
)
_BETWEEN: tuple[Field, ...] = (Field("step", lambda t: t.final.step if t.final else None),)
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
    """Returns all fields, in the order of an export.

    A metric or parameter with the name of another field has only its long name.
    """
    taken = {field.name for field in (*_BEFORE, *_BETWEEN, *_AFTER)}
    metrics = [_metric(name, taken) for name in view.metrics]
    taken.update(field.name for field in metrics)
    parameters = [_parameter(name, taken) for name in view.parameters]
    return [*_BEFORE, *metrics, *_BETWEEN, *parameters, *_AFTER]


def _metric(name: str, taken: set[str]) -> Field:
    shown = f"metrics.{name}" if name in taken else name
    return Field(shown, lambda trial: metric_value(trial, name))


def _parameter(name: str, taken: set[str]) -> Field:
    shown = f"parameters.{name}" if name in taken else name
    return Field(shown, lambda trial: parameter_value(trial, name))


def _plain(value: JsonValue) -> Value:
    return value if isinstance(value, str | float | int | None) else str(value)


def find_trial(view: TrialsView, number: int, flags: str) -> TrialView:
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
