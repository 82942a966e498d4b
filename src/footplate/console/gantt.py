"""The times when each trial waited and ran, as bars over one axis of time. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.console.formatting import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime

    from pydantic import JsonValue

    TrialJson = Mapping[str, JsonValue]

WIDTH = 1000.0
"""Of the axis, in units of its drawing."""
_LEAST = 3.0
"""So wide is at least what took no time."""


@dataclass(frozen=True)
class Bar:
    """The bar of a trial. It waited from ``waited`` to ``x``, and ran from ``x`` on.

    ``look`` names the colour.
    """

    number: int
    waited: float
    x: float
    width: float
    look: str
    start: str | None
    end: str | None


def make_bars(trials: Sequence[TrialJson], now: datetime) -> list[Bar]:
    """Returns bars in the order of the trials' numbers; those of running trials end ``now``."""
    begin = min((parse(str(trial["createTime"])) for trial in trials), default=now)
    end = max((_end(trial, now) for trial in trials), default=now)
    whole = max((end - begin).total_seconds(), 1e-6)

    def place(time: datetime) -> float:
        return round(max(0.0, (time - begin).total_seconds()) / whole * (WIDTH - _LEAST), 1)

    return [_bar(trial, place, now) for trial in sorted(trials, key=_number)]


def _bar(trial: TrialJson, place: Callable[[datetime], float], now: datetime) -> Bar:
    made, stop = parse(str(trial["createTime"])), _end(trial, now)
    start = parse(str(trial["startTime"])) if "startTime" in trial else stop
    x = place(start)
    return Bar(
        _number(trial),
        place(made),
        x,
        max(_LEAST, place(stop) - x) if "startTime" in trial else 0.0,
        _look(trial),
        _time(trial, "startTime"),
        _time(trial, "endTime"),
    )


def _end(trial: TrialJson, now: datetime) -> datetime:
    return parse(str(trial["endTime"])) if "endTime" in trial else now


def _look(trial: TrialJson) -> str:
    if trial.get("stoppedEarly"):
        return "stopped"
    state = str(trial["state"]).lower()
    return {"active": "running", "stopping": "cancelling", "infeasible": "failed"}.get(state, state)


def _number(trial: TrialJson) -> int:
    return int(str(trial["number"]))


def _time(trial: TrialJson, name: str) -> str | None:
    return str(trial[name]) if name in trial else None
