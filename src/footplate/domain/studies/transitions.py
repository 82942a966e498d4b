"""Changes of a study and its trials by clients' requests. Pure.

Source: the methods of VizierService. Each decision bears the version that it is to be written at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from footplate.domain.errors import FailedPrecondition
from footplate.domain.formatting import joined, listed
from footplate.domain.studies.metrics import Measurement, select
from footplate.domain.studies.records import StudyRecord, StudyState, TrialRecord
from footplate.domain.studies.trials import TrialState

ASKED_TO_STOP = "a client asked to stop the trial"


@dataclass(frozen=True)
class Change:
    """The records to write: the study at its next version, and the trials that change."""

    study: StudyRecord
    trials: tuple[TrialRecord, ...] = ()
    dropped: tuple[int, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """A trial's result as a client reports it; if empty, the service selects a measurement."""

    final: Measurement | None = None
    infeasible: bool = False
    """Whatever ``final`` says: this point can't be tried."""
    reason: str = ""


def complete(
    study: StudyRecord,
    trial: TrialRecord,
    outcome: Outcome,
    measurements: Sequence[Measurement],
    now: datetime,
) -> Change:
    """Completes a trial; ``measurements`` are all measurements that were reported for it.

    Raises:
        FailedPrecondition: the trial has ended before, or no measurement can decide its result.
    """
    refuse_ended(trial)
    if outcome.infeasible:
        ended = replace(
            trial, state=TrialState.INFEASIBLE, final=None, infeasible_reason=outcome.reason
        )
    else:
        final = outcome.final or _selected(study, trial, measurements)
        ended = replace(trial, state=TrialState.SUCCEEDED, final=final)
    return end(study, ended, now)


def end(study: StudyRecord, trial: TrialRecord, now: datetime) -> Change:
    """Gives an ended trial its end time and its place in the order of ends."""
    placed = replace(trial, end_time=now, ended_as=study.ended + 1)
    return Change(_next(replace(study, ended=study.ended + 1)), (placed,))


def stop(study: StudyRecord, trial: TrialRecord, reason: str) -> Change | None:
    """Asks the trial's client to stop; None: it was asked already, or the trial has ended."""
    if trial.state.ended or trial.state is TrialState.STOPPING:
        return None
    stopping = replace(trial, state=TrialState.STOPPING, stop_reason=reason)
    return Change(_next(study), (stopping,))


def hand_out(
    study: StudyRecord, trials: Iterable[TrialRecord], client_id: str, now: datetime
) -> Change:
    """Assigns requested trials to a client."""
    active = (
        replace(trial, state=TrialState.ACTIVE, client_id=client_id, start_time=now)
        for trial in trials
    )
    return Change(_next(study), tuple(active))


def drop(study: StudyRecord, trial: TrialRecord) -> Change:
    return Change(_next(study), dropped=(trial.number,))


def halt(study: StudyRecord, state: StudyState, why: str) -> Change | None:
    """Stops all suggestions permanently; None: they are stopped already.

    Only an inactive study stores the reason. Source: Study.inactive_reason.
    """
    if study.state is not StudyState.ACTIVE:
        return None
    said = why if state is StudyState.INACTIVE else ""
    return Change(_next(replace(study, state=state, why_inactive=said)))


def refuse_ended(trial: TrialRecord) -> None:
    """Raises FailedPrecondition if the trial has ended."""
    if trial.state.ended:
        raise FailedPrecondition(
            f"trial {trial.number} has ended as {trial.state.name}; a trial that has ended can't "
            "change"
        )


def as_handed_out(trial: TrialRecord) -> TrialRecord:
    """Returns the trial in the state in which its client received it."""
    return replace(
        trial,
        state=TrialState.ACTIVE,
        end_time=None,
        ended_as=0,
        final=None,
        infeasible_reason="",
        stop_reason="",
    )


def _selected(
    study: StudyRecord, trial: TrialRecord, measurements: Sequence[Measurement]
) -> Measurement:
    config = study.config
    found = select(measurements, config.metrics, config.selection)
    if found is not None:
        return found
    wanted = joined([metric.name for metric in config.metrics])
    seen = sorted({name for measurement in measurements for name in measurement.values})
    raise FailedPrecondition(
        f"trial {trial.number} has no measurement of {wanted} (measured so far: "
        f"{listed(seen) or 'nothing'}), so the trial has no result. Add a measurement, give a "
        "finalMeasurement, or complete it with trialInfeasible"
    )


def _next(study: StudyRecord) -> StudyRecord:
    return replace(study, version=study.version + 1)
