"""The JSON of trials' curves, and of a stopping rule's replay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.ranking import best
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.stopping import (
    ConvexSpec,
    DecayCurveSpec,
    HalvingSpec,
    MedianSpec,
    ReplayedStop,
    StoppingSpec,
)
from footplate.domain.tuning.search import Search
from footplate.wire.doubles import double_json
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.trials import evenly

RULES: Mapping[str, StoppingSpec] = {
    "halving": HalvingSpec(),
    "median": MedianSpec(),
    "decayCurve": DecayCurveSpec(),
    "convex": ConvexSpec(),
}
"""Those that can be replayed, by name; all over steps."""


def curves_json(curves: Mapping[int, Sequence[Measurement]], points: int) -> JsonObject:
    """Returns curves by trial, in the order of steps, with at most ``points`` points each."""
    return {
        "curves": [
            {"trial": number, **_curve(evenly(curve, points))}
            for number, curve in sorted(curves.items())
        ]
    }


def _curve(shown: Sequence[Measurement]) -> JsonObject:
    """Returns steps and values; a metric that was not reported at a step is null there."""
    names = sorted({name for each in shown for name in each.values})
    return {
        "steps": [each.step for each in shown],
        "values": {
            name: [double_json(m.values[name]) if name in m.values else None for m in shown]
            for name in names
        },
    }


def replay_json(
    rule: str, search: Search, trials: Sequence[TrialRecord], stops: Sequence[ReplayedStop]
) -> JsonObject:
    """Returns the result of a replay.

    ``bestStopped``: the best trial is among the stopped ones, and would have been lost.
    """
    found = best([trial.trial() for trial in trials], search.study.metrics[0])
    winner = None if found is None else found.trial.number
    return {
        "rule": rule,
        "stopped": [
            {
                "number": stop.number,
                "step": stop.step,
                "reason": stop.reason,
                "savedMachineSeconds": stop.saved_s,
            }
            for stop in stops
        ],
        "savedMachineSeconds": sum(stop.saved_s for stop in stops),
        "machineSeconds": sum(trial.machine_s for trial in trials if trial.state.ended),
        "bestStopped": winner in {stop.number for stop in stops},
    }
