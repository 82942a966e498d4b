"""Trials in one row or line: those of a job, and those of earlier studies."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from footplate.cli.output_format import TABLE, render
from footplate.cli.trials.fields import metric_value
from footplate.cli.trials.table import best_trials, figure, result, values_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from footplate.wire.footplate_v1.trials import EarlierTrial, Measurement, TrialList


def is_tuning(resource: Mapping[str, JsonValue]) -> bool:
    """Returns whether a job, in the form of either API, has trials."""
    given = resource.get("trainingInput")
    searched = given.get("hyperparameters") if isinstance(given, dict) else None
    return bool(searched) or "studySpec" in resource


def summary(resource: Mapping[str, JsonValue], columns: Mapping[str, str], view: TrialList) -> str:
    """Renders a job as a table, with the number of its trials and the best one."""
    document = {**resource, "trialsToldOf": _counted(view), "bestToldOf": _best(view)}
    return render(document, TABLE, {**columns, "TRIALS": "trialsToldOf", "BEST": "bestToldOf"})


def trial_counts(view: TrialList) -> tuple[str, str]:
    """Returns how many of how many trials have ended, and which is the best."""
    return _counted(view), _best(view)


def _counted(view: TrialList) -> str:
    ended = sum(trial.ended for trial in view.trials)
    running = len(view.trials) - ended
    return f"{ended} of {view.counts.trials}" + (f", {running} running" if running else "")


def _best(view: TrialList) -> str:
    found = best_trials(view)
    if len(found) > 1:
        return "trials " + ", ".join(str(trial.number) for trial in found)
    return "".join(f"trial {trial.number}: {result(trial)}" for trial in found)


_ENDED = ("SUCCEEDED", "FAILED", "CANCELLED")


def earlier_line(view: TrialList) -> str:
    """Returns a sentence on earlier trials, and whether a new one is better; '' without any."""
    earlier = view.earlier
    if earlier is None:
        return ""
    trials = "1 trial" if earlier.trials == 1 else f"{earlier.trials} trials"
    if earlier.best is None:
        return f"Earlier study: {trials} of {earlier.source}, none with a result."
    best = f"the best with {values_of(earlier.best.final)} ({_which(earlier.source, earlier.best)})"
    return f"Earlier: {trials}, {best}. {_compared(view, earlier.best.final)}"


def _which(source: str, best: EarlierTrial) -> str:
    of = f"trial {best.number} of {source}" if best.number else f"older than {source}"
    return f"{of}: {', '.join(f'{n}={_shown(v)}' for n, v in best.parameters.items())}"


def _compared(view: TrialList, earlier: Measurement) -> str:
    """Compares the best result with an earlier one, by the search's only metric."""
    name, goal = next(iter(view.goals.items()))
    best, before = best_trials(view), earlier.values.get(name, math.nan)
    value = metric_value(best[0], name) if best else None
    yet = "" if view.state in _ENDED else " yet"
    if value is None:
        return f"No new trial has a result{yet}."
    better = value > before if goal == "MAXIMIZE" else value < before
    return f"Trial {best[0].number} is better." if better else f"No new trial is better{yet}."


def _shown(value: JsonValue) -> str:
    return figure(value) if isinstance(value, int | float) else str(value)
