"""Trials that users add themselves, and their points as values of the space. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.studies.metrics import Measurement, select
from footplate.domain.studies.parameters import (
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
    Value,
)
from footplate.domain.studies.records import StudyRecord, TrialRecord
from footplate.domain.studies.space import Point, SearchSpace
from footplate.domain.studies.transitions import Change, end
from footplate.domain.studies.trials import TrialState

MATCH_EPSILON = 1e-10
"""How far a number may lie from a discrete value to be the same. Source: DiscreteValueCondition."""


def in_own_values(space: SearchSpace, given: Point) -> Point:
    """Converts each value of a point to its parameter's type: an integer given as 3.0 becomes 3.

    A value stays unchanged if it isn't a value of its parameter, or if the parameter isn't active.
    """
    made = dict(given)
    values: list[Value | None] = []
    for slot in space.slots:
        active = slot.parent is None or values[slot.parent] in slot.values
        value = made.get(slot.parameter.name) if active else None
        values.append(None if value is None else _own(slot.parameter, value))
        if values[-1] is not None:
            made[slot.parameter.name] = values[-1]
    return made


def _own(parameter: Parameter, value: Value) -> Value:
    if isinstance(value, str):
        return value
    match parameter:
        case DoubleParameter():
            return float(value)
        case IntegerParameter():
            return int(value) if float(value).is_integer() else value
        case DiscreteParameter():
            return _nearest(value, parameter.values)
        case _:
            return value


def _nearest(value: float, values: Sequence[float]) -> float:
    """Returns the value in ``values`` that is near enough, else ``value``; ``values`` increase."""
    place = bisect_left(values, value - MATCH_EPSILON)
    near = values[place : place + 1]
    return near[0] if near and abs(near[0] - value) <= MATCH_EPSILON else value


@dataclass(frozen=True)
class NewTrial:
    """A trial that a user adds: still to be tried, running already, or completed elsewhere."""

    point: Point
    state: TrialState = TrialState.REQUESTED
    measurements: tuple[Measurement, ...] = ()
    final: Measurement | None = None
    client_id: str = ""
    infeasible_reason: str = ""


def bring(study: StudyRecord, new: NewTrial, now: datetime) -> Change:
    """Adds a user's trial to the study; REQUESTED trials are suggested first.

    Raises:
        InvalidArgument: the point isn't in the space, or the trial succeeded without values.
    """
    point = in_own_values(study.config.space, new.point)
    problems = study.config.space.problems(point)
    violations = tuple(Violation("parameters", problem) for problem in problems)
    if violations:
        raise InvalidArgument.of(violations)
    number = study.made + 1
    made = TrialRecord(
        number=number,
        point=point,
        create_time=now,
        state=new.state,
        start_time=None if new.state is TrialState.REQUESTED else now,
        client_id=new.client_id,
        measurements=new.measurements,
    )
    counted = replace(study, made=number)
    if not new.state.ended:
        return Change(replace(counted, version=study.version + 1), (made,))
    return end(counted, _judged(study, made, new), now)


def _judged(study: StudyRecord, trial: TrialRecord, new: NewTrial) -> TrialRecord:
    if new.state is TrialState.INFEASIBLE:
        return replace(trial, infeasible_reason=new.infeasible_reason)
    config = study.config
    final = new.final or select(new.measurements, config.metrics, config.selection)
    if final is None:
        allowed = "SUCCEEDED with finalMeasurement, or with measurements of all metrics"
        raise InvalidArgument.of((Violation("state", f"SUCCEEDED given; allowed: {allowed}"),))
    return replace(trial, final=final)
