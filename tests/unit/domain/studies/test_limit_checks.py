"""When a study is over, and what it says then."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.studies.limit_checks import over, trials_left
from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.study import StudyLimits
from footplate.domain.studies.trials import TrialState

MADE = datetime(2026, 1, 1, tzinfo=UTC)
LOSS = Metric("loss", Goal.MINIMIZE)


def at(seconds: float) -> datetime:
    return MADE + timedelta(seconds=seconds)


def ended(number: int, loss: float | None, place: int | None = None) -> TrialRecord:
    """One that ended after ``number`` times ten seconds; None: without a value."""
    return TrialRecord(
        number,
        {},
        MADE,
        TrialState.INFEASIBLE if loss is None else TrialState.SUCCEEDED,
        start_time=at(10 * number - 9),
        end_time=at(10 * number),
        ended_as=place or number,
        final=None if loss is None else Measurement({"loss": loss}),
    )


def running(number: int) -> TrialRecord:
    return TrialRecord(number, {}, MADE, TrialState.ACTIVE, start_time=at(10 * number - 9))


def said(limits: StudyLimits, trials: list[TrialRecord], seconds: float = 0, *more: Metric) -> str:
    return over(limits, trials, (LOSS, *more), MADE, at(seconds))


def test_without_limits_it_goes_on() -> None:
    assert said(StudyLimits(), [ended(n, 1.0) for n in range(1, 50)], 1e9) == ""
    assert said(StudyLimits(stop_asap=True), [ended(1, 1.0)]) == ""


def test_it_is_over_when_all_trials_are_made_ended_or_not() -> None:
    limits = StudyLimits(max_trials=2)
    assert said(limits, [ended(1, 1.0)]) == ""
    assert said(limits, [ended(1, 1.0), running(2)]) == "the study has all of its 2 trials"
    assert trials_left(limits, 1) == 1
    assert trials_left(limits, 3) == 0
    assert trials_left(StudyLimits(), 3) is None
    assert trials_left(None, 3) is None


@pytest.mark.parametrize(
    "limits",
    [
        StudyLimits(max_duration_s=60),
        StudyLimits(max_end=at(60)),
        StudyLimits(max_duration_s=60, max_end=at(60)),
    ],
)
def test_it_is_over_when_its_time_is_up(limits: StudyLimits) -> None:
    assert said(limits, [], 59.9) == ""
    assert said(limits, [], 60) != ""


def test_the_time_that_is_up_is_told() -> None:
    assert "60 s" in said(StudyLimits(max_duration_s=60), [], 60)
    assert "2026-01-01 00:01:00 UTC" in said(StudyLimits(max_end=at(60)), [], 60)


@pytest.mark.parametrize(
    "least",
    [
        StudyLimits(min_trials=3),
        StudyLimits(min_duration_s=100),
        StudyLimits(min_end=at(100)),
    ],
)
def test_before_the_minimum_no_other_limit_holds(least: StudyLimits) -> None:
    limits = replace(least, max_trials=2, max_duration_s=1, max_trials_no_progress=1)
    trials = [ended(1, 1.0), ended(2, 2.0), running(3)]
    assert said(limits, trials, 99) == ""
    assert said(limits, [*trials[:2], ended(3, 3.0)], 100) != ""


def test_it_is_over_when_trials_bring_nothing_better() -> None:
    limits = StudyLimits(max_trials_no_progress=2)
    assert said(limits, [ended(1, 1.0), ended(2, 1.5)]) == ""
    assert said(limits, [ended(1, 1.0), ended(2, 1.5), ended(3, 0.5), ended(4, None)]) == ""
    told = "the last 2 trials brought no better result"
    assert said(limits, [ended(1, 1.0), ended(2, 1.0), ended(3, None)]) == told
    assert said(limits, [ended(1, None), ended(2, None)]) == told


def test_progress_goes_by_the_order_of_the_ends() -> None:
    limits = StudyLimits(max_trials_no_progress=2)
    late_best = [ended(1, 0.1, 3), ended(2, 1.0, 1), ended(3, 2.0, 2)]
    assert said(limits, late_best) == ""


def test_it_is_over_when_nothing_better_was_found_for_long() -> None:
    limits = StudyLimits(max_duration_no_progress_s=60)
    trials = [ended(1, 1.0), ended(2, 2.0)]
    assert said(limits, trials, 69.9) == ""
    assert said(limits, trials, 70) == "no trial has brought a better result for 60 s"


def test_what_has_not_begun_can_not_fail_to_progress() -> None:
    limits = StudyLimits(max_duration_no_progress_s=60)
    assert said(limits, [TrialRecord(1, {}, MADE)], 1e6) == ""
    assert said(limits, [running(1)], 60.9) == ""
    assert said(limits, [running(1)], 61) != ""


def test_with_several_metrics_there_is_no_progress_to_speak_of() -> None:
    limits = StudyLimits(max_trials_no_progress=1, max_duration_no_progress_s=1)
    trials = [ended(1, 1.0), ended(2, 1.0)]
    assert said(limits, trials, 1e6) != ""
    assert said(limits, trials, 1e6, Metric("speed")) == ""


@given(
    most=st.integers(1, 5),
    values=st.lists(st.none() | st.integers(0, 4).map(float), max_size=12),
)
def test_no_progress_means_that_the_last_ones_are_no_better_than_the_best_before(
    most: int, values: list[float | None]
) -> None:
    trials = [ended(n, value) for n, value in enumerate(values, 1)]
    early = [v for v in values[:-most] if v is not None] if most < len(values) else []
    late = [v for v in values[-most:] if v is not None]
    stuck = len(values) >= most and (not late or (bool(early) and min(late) >= min(early)))
    assert bool(said(StudyLimits(max_trials_no_progress=most), trials)) is stuck
