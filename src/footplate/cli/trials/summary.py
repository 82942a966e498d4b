"""A tuning job in one row."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.formats.format_spec import TABLE
from footplate.cli.output_format import render
from footplate.cli.trials.table import best_trials, result

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import JsonValue

    from footplate.client.trials import TrialsView


def is_tuning(resource: Mapping[str, JsonValue]) -> bool:
    """Whether a job of either face, as the service tells of it, has trials."""
    given = resource.get("trainingInput")
    searched = given.get("hyperparameters") if isinstance(given, dict) else None
    return bool(searched) or "studySpec" in resource


def summary(resource: Mapping[str, JsonValue], columns: Mapping[str, str], view: TrialsView) -> str:
    """Its table, with the number of its trials and the best one."""
    told = {**resource, "trialsToldOf": _counted(view), "bestToldOf": _best(view)}
    return render(told, TABLE, {**columns, "TRIALS": "trialsToldOf", "BEST": "bestToldOf"})


def trial_counts(view: TrialsView) -> tuple[str, str]:
    """How many of how many have ended, and which is the best."""
    return _counted(view), _best(view)


def _counted(view: TrialsView) -> str:
    ended = sum(trial.ended for trial in view.trials)
    running = len(view.trials) - ended
    return f"{ended} of {view.most}" + (f", {running} running" if running else "")


def _best(view: TrialsView) -> str:
    found = best_trials(view)
    if len(found) > 1:
        return "trials " + ", ".join(str(trial.number) for trial in found)
    return "".join(f"trial {trial.number}: {result(trial)}" for trial in found)
