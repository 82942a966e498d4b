"""The state and the measurement of a trial when its run has ended."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from footplate.domain.errors import Code
from footplate.domain.formatting import listed
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.studies.metrics import Measurement, select
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.study import StudyConfig
from footplate.domain.studies.trials import TrialState

_TAGS_TOLD = 20
_NOTES_TOLD = 2


def judge(
    trial: TrialRecord,
    run: Job,
    config: StudyConfig,
    measurements: Sequence[Measurement],
    tags_seen: Sequence[str] = (),
    notes: Sequence[str] = (),
) -> TrialRecord:
    """Returns the trial with the result of its ``run``, but without its place in the order of ends.

    ``notes`` say what went wrong while its metric was read.

    A trial that the search stopped early keeps the measurements that it had; one that ended by
    itself before the stop took effect doesn't count as stopped. A trial has no value if its program
    failed, was cancelled, or reported nothing. Source: HyperparameterOutput.State.
    """
    ended = replace(
        trial,
        start_time=trial.start_time or run.start_time,
        end_time=run.end_time,
        outcome=run.state,
        machine_s=_machine_s(run),
    )
    final = select(measurements, config.metrics, config.selection)
    if run.state is State.SUCCEEDED:
        return _measured(replace(ended, stop_reason=""), final, config, tags_seen, notes)
    if run.state is State.CANCELLED and trial.stopped_early:
        return _measured(ended, final, config, tags_seen, notes)
    return _infeasible(ended, _why_ended(run))


def drop(trial: TrialRecord, why: str) -> TrialRecord:
    """Ends a trial that never ran, and never will."""
    ended = replace(trial, end_time=trial.create_time, outcome=State.CANCELLED)
    return _infeasible(ended, why)


def _measured(
    trial: TrialRecord,
    final: Measurement | None,
    config: StudyConfig,
    tags_seen: Sequence[str],
    notes: Sequence[str],
) -> TrialRecord:
    names = [metric.name for metric in config.metrics]
    if final is None:
        seen = tuple(tags_seen)
        why = "; ".join((_unmeasured(names, seen), *notes[:_NOTES_TOLD]))
        return _infeasible(replace(trial, tags_seen=seen), why)
    lost = [name for name in names if not math.isfinite(final.values[name])]
    if lost:
        said = ", ".join(f"{name} was {final.values[name]}" for name in lost)
        why = f"{said} at step {final.step}, which is not a number, so the trial has no result"
        return _infeasible(replace(trial, final=final), why)
    return replace(trial, state=TrialState.SUCCEEDED, final=final)


def _infeasible(trial: TrialRecord, why: str) -> TrialRecord:
    return replace(trial, state=TrialState.INFEASIBLE, infeasible_reason=why)


def _unmeasured(names: Sequence[str], seen: Sequence[str]) -> str:
    listed_names = listed(names)
    if not seen:
        return f"the program never reported metric {listed_names}; tags seen: none"
    more = f" and {len(seen) - _TAGS_TOLD} more" if len(seen) > _TAGS_TOLD else ""
    return (
        f"the program never reported metric {listed_names}; tags seen: "
        f"{', '.join(seen[:_TAGS_TOLD])}{more}"
    )


def _why_ended(run: Job) -> str:
    message = run.ending.message if run.ending else ""
    if run.ending is not None and run.ending.code is Code.DEADLINE_EXCEEDED:
        message += " (each trial has the limits of the tuning job)"
    return message or f"its run ended {run.state.value}"


def _machine_s(run: Job) -> float:
    """Returns the run's time in seconds multiplied by the number of its machines."""
    if run.start_time is None or run.end_time is None:
        return 0.0
    machines = len(run.spec.replica_names())
    return max(0.0, (run.end_time - run.start_time).total_seconds()) * machines
