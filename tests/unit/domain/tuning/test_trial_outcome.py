"""What the end of a run makes of its trial."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest

from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.studies.metrics import Measurement, Selection
from footplate.domain.studies.study import StudyConfig
from footplate.domain.studies.trials import TrialState
from footplate.domain.tuning.trial_outcome import drop, judge
from tests.support.searches import RMSE, SPACE, make_run, make_trial, make_tuning_job

CONFIG = StudyConfig(SPACE, (RMSE,))
CURVE = (Measurement({"rmse": 0.5}, 1), Measurement({"rmse": 0.7}, 2))
JOB = make_tuning_job()
TRIAL = make_trial(1, TrialState.ACTIVE)
FAILED = make_run(JOB, 1, State.FAILED, Ending(State.FAILED, Code.ABORTED, "it exited with 1"))
CANCELLED = make_run(JOB, 1, State.CANCELLED, Ending(State.CANCELLED, Code.CANCELLED, "by hand"))
SUCCEEDED = make_run(JOB, 1, State.SUCCEEDED)


@pytest.mark.parametrize(("selection", "value"), [(Selection.LAST, 0.7), (Selection.BEST, 0.5)])
def test_a_success_has_the_measurement_that_the_study_selects(
    selection: Selection, value: float
) -> None:
    trial = judge(TRIAL, SUCCEEDED, replace(CONFIG, selection=selection), CURVE)

    assert trial.state is TrialState.SUCCEEDED
    assert trial.verdict is State.SUCCEEDED
    assert trial.final is not None
    assert trial.final.values == {"rmse": value}
    assert trial.end_time == SUCCEEDED.end_time
    assert trial.machine_s == 60.0


def test_machine_time_counts_each_machine() -> None:
    run = replace(SUCCEEDED, spec=make_run(JOB).spec)
    pool = replace(run.spec.primary, replica_count=3)
    run = replace(run, spec=replace(run.spec, pools=(run.spec.primary, pool)))

    assert judge(TRIAL, run, CONFIG, CURVE).machine_s == 240.0


def test_a_program_that_failed_has_no_value_whatever_it_reported() -> None:
    trial = judge(TRIAL, FAILED, CONFIG, CURVE)

    assert trial.verdict is State.FAILED
    assert trial.final is None
    assert trial.infeasible_reason == "it exited with 1"


def test_one_that_reported_nothing_has_failed_and_says_what_it_did_report() -> None:
    trial = judge(TRIAL, SUCCEEDED, CONFIG, (), ("loss", "val_loss"))

    assert trial.verdict is State.FAILED
    assert trial.outcome is State.SUCCEEDED
    assert trial.tags_seen == ("loss", "val_loss")
    assert trial.infeasible_reason == (
        "the program never reported metric rmse; tags seen: loss, val_loss"
    )


def test_no_tags_at_all_are_told_as_none() -> None:
    assert judge(TRIAL, SUCCEEDED, CONFIG, ()).infeasible_reason.endswith("tags seen: none")


def test_many_tags_are_counted() -> None:
    tags = [f"tag{number:02}" for number in range(30)]

    assert judge(TRIAL, SUCCEEDED, CONFIG, (), tags).infeasible_reason.endswith("and 10 more")


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_what_is_no_number_is_no_value(value: float) -> None:
    trial = judge(TRIAL, SUCCEEDED, CONFIG, (Measurement({"rmse": value}, 7),))

    assert trial.state is TrialState.INFEASIBLE
    assert trial.verdict is State.FAILED
    assert f"rmse was {value} at step 7" in trial.infeasible_reason


def test_one_that_ended_by_itself_before_it_was_stopped_was_not_stopped() -> None:
    told = replace(TRIAL, state=TrialState.STOPPING, stop_reason="at step 2: worse")

    trial = judge(told, SUCCEEDED, CONFIG, CURVE)

    assert trial.verdict is State.SUCCEEDED
    assert not trial.stopped_early
    assert trial.final == CURVE[1]


def test_one_that_the_search_stopped_keeps_what_it_had() -> None:
    stopped = replace(TRIAL, state=TrialState.STOPPING, stop_reason="at step 2: worse")

    trial = judge(stopped, CANCELLED, CONFIG, CURVE)

    assert trial.state is TrialState.SUCCEEDED
    assert trial.stopped_early
    assert trial.final == CURVE[-1]


def test_one_that_came_to_its_own_end_first_is_a_success() -> None:
    stopped = replace(TRIAL, state=TrialState.STOPPING, stop_reason="at step 2: worse")

    assert judge(stopped, SUCCEEDED, CONFIG, CURVE).verdict is State.SUCCEEDED


def test_one_that_somebody_cancelled_has_neither_failed_nor_a_value() -> None:
    trial = judge(TRIAL, CANCELLED, CONFIG, CURVE)

    assert trial.verdict is State.CANCELLED
    assert trial.final is None
    assert trial.infeasible_reason == "by hand"


def test_one_that_never_ran_is_as_if_cancelled() -> None:
    trial = drop(make_trial(), "the job ended first")

    assert trial.verdict is State.CANCELLED
    assert trial.infeasible_reason == "the job ended first"
