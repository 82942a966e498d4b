"""Trials that users add themselves. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.studies.metrics import select
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.transitions import Change, end
from footplate.domain.studies.trials import TrialState
from footplate.domain.studies.user_points import in_own_values

if TYPE_CHECKING:
    from datetime import datetime

    from footplate.domain.studies.metrics import Measurement
    from footplate.domain.studies.records import StudyRecord
    from footplate.domain.studies.space import Point


@dataclass(frozen=True)
class NewTrial:
    """A trial as a user brings it: to be tried, at work already, or done elsewhere."""

    point: Point
    state: TrialState = TrialState.REQUESTED
    measurements: tuple[Measurement, ...] = ()
    final: Measurement | None = None
    client_id: str = ""
    infeasible_reason: str = ""


def bring(study: StudyRecord, new: NewTrial, now: datetime) -> Change:
    """Add a user's trial to the study; REQUESTED trials are suggested first.

    Raises:
        InvalidArgument: its point isn't one of the space, or it has succeeded with nothing.
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
        allowed = "with finalMeasurement, or measurements of all metrics"
        raise InvalidArgument.of((Violation("state", f"SUCCEEDED given; allowed: {allowed}"),))
    return replace(trial, final=final)
