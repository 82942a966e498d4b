"""Prints what a job does, and reports its metrics to the service where it runs a trial."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from footplate_algorithms.scores import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_REPORTS = 50
"""Of one training, evenly over its steps."""


def say(text: str) -> None:
    """Prints a line on stdout."""
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def is_due(step: int, steps: int) -> bool:
    """Returns whether the metrics of step ``step`` of ``steps``, counted from 1, are reported."""
    every = max(1, -(-steps // MAX_REPORTS))
    return step % every == 0 or step == steps


class Reporter:
    """Reports metrics; ``on`` is the name of the data from which they are computed."""

    def __init__(self, on: str) -> None:
        self._on = on
        self._trial = None
        if os.environ.get("CLOUD_ML_TRIAL_ID"):
            import hypertune  # in the runtimes; a job that isn't a trial does without

            self._trial = hypertune.HyperTune()

    def report(self, scores: Mapping[str, float], step: int) -> None:
        say(f"Step {step}, {self._on} data: {shown(scores.items())}")
        if self._trial is None:
            return
        for name, value in scores.items():
            self._trial.report_hyperparameter_tuning_metric(name, value, step)
