"""What becomes of studies and trials when clients say something of them."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta

import pytest

from footplate.domain.errors import FailedPrecondition, InvalidArgument
from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies import transitions
from footplate.domain.studies.measurement_input import (
    check_metrics,
    check_whole,
    curve,
    report_of,
    timed,
)
from footplate.domain.studies.metrics import Goal, Measurement, Metric, Selection
from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
)
from footplate.domain.studies.records import StudyRecord, StudyState, TrialRecord
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import StudyConfig
from footplate.domain.studies.transitions import Outcome
from footplate.domain.studies.trials import TrialState
from footplate.domain.studies.user_trials import NewTrial, bring, in_own_values

NOW = datetime(2026, 1, 1, tzinfo=UTC)
LATER = NOW + timedelta(seconds=90)
LOSS = Metric("loss", Goal.MINIMIZE)
DEPTH = IntegerParameter("depth", 1, 9)
SPACE = SearchSpace(
    (
        DoubleParameter("lr", 0.0, 1.0),
        DiscreteParameter("batch", (0.1, 0.2)),
        CategoricalParameter("model", ("tree", "line"), branches=(Branch(("tree",), DEPTH),)),
    )
)
LINE: dict[str, float | int | str] = {"lr": 0.5, "batch": 0.1, "model": "line"}
TREE: dict[str, float | int | str] = {**LINE, "model": "tree", "depth": 3}
CURVE = (Measurement({"loss": 0.3}, 1), Measurement({"loss": 0.7}, 2))
ENDED = [TrialState.SUCCEEDED, TrialState.INFEASIBLE]
OPEN = [TrialState.REQUESTED, TrialState.ACTIVE, TrialState.STOPPING]


def study(selection: Selection = Selection.LAST) -> StudyRecord:
    config = StudyConfig(SPACE, (LOSS,), selection=selection)
    name = StudyName("demo", "us-central1", "1")
    return StudyRecord(StudyUid("u"), name, "s", config, "{}", 0, NOW, made=4, ended=2, version=8)


def trial(state: TrialState = TrialState.ACTIVE) -> TrialRecord:
    return TrialRecord(3, LINE, NOW, state, start_time=NOW, client_id="a")


def completed(outcome: Outcome, *curve: Measurement, by: Selection = Selection.LAST) -> TrialRecord:
    change = transitions.complete(study(by), trial(), outcome, curve, LATER)
    assert (change.study.version, change.study.ended, change.study.made) == (9, 3, 4)
    (ended,) = change.trials
    assert (ended.end_time, ended.ended_as) == (LATER, 3)
    return ended


def test_a_trial_ends_with_the_measurement_that_its_client_gives() -> None:
    final = Measurement({"loss": math.nan}, 9)
    ended = completed(Outcome(final), *CURVE)
    assert ended.state is TrialState.SUCCEEDED
    assert ended.final is final


@pytest.mark.parametrize(("by", "place"), [(Selection.LAST, 1), (Selection.BEST, 0)])
def test_without_one_it_is_judged_by_the_study_s_selection(by: Selection, place: int) -> None:
    assert completed(Outcome(), *CURVE, by=by).final == CURVE[place]


def test_an_infeasible_trial_has_a_reason_and_no_value() -> None:
    ended = completed(Outcome(CURVE[0], infeasible=True, reason="out of memory"), *CURVE)
    assert ended.state is TrialState.INFEASIBLE
    assert ended.infeasible_reason == "out of memory"
    assert ended.final is None


def test_with_nothing_to_judge_by_it_says_what_to_do() -> None:
    with pytest.raises(FailedPrecondition, match=r"no measurement of loss .*: heat.*trialInf"):
        transitions.complete(study(), trial(), Outcome(), [Measurement({"heat": 1.0})], LATER)


@pytest.mark.parametrize("state", ENDED)
def test_what_has_ended_does_not_end_again(state: TrialState) -> None:
    with pytest.raises(FailedPrecondition, match=f"trial 3 has ended as {state.name}"):
        transitions.complete(study(), trial(state), Outcome(CURVE[0]), (), LATER)
    assert transitions.stop(study(), trial(state), "why") is None


@pytest.mark.parametrize("state", OPEN)
def test_what_has_not_ended_can_end(state: TrialState) -> None:
    change = transitions.complete(study(), trial(state), Outcome(CURVE[0]), (), LATER)
    assert change.trials[0].state is TrialState.SUCCEEDED


def test_a_trial_is_told_to_stop_once() -> None:
    change = transitions.stop(study(), trial(), "too slow")
    assert change is not None
    assert change.study.version == 9
    assert change.trials[0].state is TrialState.STOPPING
    assert change.trials[0].stop_reason == "too slow"
    assert transitions.stop(change.study, change.trials[0], "again") is None


def test_a_trial_that_waits_goes_to_a_client() -> None:
    waiting = TrialRecord(3, LINE, NOW)
    (handed,) = transitions.hand_out(study(), [waiting], "b", LATER).trials
    assert handed.state is TrialState.ACTIVE
    assert (handed.client_id, handed.start_time) == ("b", LATER)
    ended = completed(Outcome(CURVE[0]))
    assert transitions.as_handed_out(ended) == trial()


def test_a_study_is_halted_once_and_an_inactive_one_says_why() -> None:
    halted = transitions.halt(study(), StudyState.INACTIVE, "all made")
    assert halted is not None
    assert (halted.study.state, halted.study.why_inactive) == (StudyState.INACTIVE, "all made")
    assert transitions.halt(halted.study, StudyState.COMPLETED, "") is None
    done = transitions.halt(study(), StudyState.COMPLETED, "every point was tried")
    assert done is not None
    assert done.study.why_inactive == ""


def test_a_trial_of_a_users_own_has_a_number_of_its_own() -> None:
    change = bring(study(), NewTrial(TREE), LATER)
    assert (change.study.made, change.study.ended, change.study.version) == (5, 2, 9)
    (made,) = change.trials
    assert (made.number, made.state, made.start_time) == (5, TrialState.REQUESTED, None)
    assert made.suggestion is None


def test_one_that_was_done_elsewhere_has_ended() -> None:
    change = bring(study(), NewTrial(LINE, TrialState.SUCCEEDED, CURVE), LATER)
    (made,) = change.trials
    assert made.final == CURVE[1]
    assert (made.ended_as, change.study.ended, change.study.version) == (3, 3, 9)
    broken = NewTrial(LINE, TrialState.INFEASIBLE, infeasible_reason="broke")
    assert bring(study(), broken, LATER).trials[0].infeasible_reason == "broke"
    with pytest.raises(InvalidArgument, match="state: SUCCEEDED given"):
        bring(study(), NewTrial(LINE, TrialState.SUCCEEDED), LATER)


@pytest.mark.parametrize(
    ("point", "said"),
    [
        ({"lr": 0.5, "batch": 0.1}, "model: required: 'tree', 'line'"),
        ({**LINE, "lr": 2.0}, "lr: 2.0 given; allowed: 0 to 1"),
        ({**LINE, "lr": "x"}, "lr: 'x' given; allowed: 0 to 1"),
        ({**LINE, "depth": 3}, "parameter depth given; allowed only with model of 'tree'"),
        ({**TREE, "depth": 3.5}, "depth: 3.5 given; allowed: a whole number, 1 to 9"),
        (
            {**LINE, "rate": 1},
            "'rate' given, which is no parameter of the study; allowed: batch, depth, lr, model",
        ),
        ({**LINE, "batch": 0.15}, "batch: 0.15 given; allowed: 0.1, 0.2"),
    ],
)
def test_a_point_outside_of_the_space_is_refused(
    point: dict[str, float | int | str], said: str
) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        bring(study(), NewTrial(point), LATER)
    (violation,) = refusal.value.violations
    assert (violation.field, violation.description) == ("parameters", said)


def test_numbers_become_the_parameters_own() -> None:
    near: dict[str, float | int | str] = {
        "lr": 1,
        "batch": 0.1 + 1e-12,
        "model": "tree",
        "depth": 3.0,
    }
    point = in_own_values(SPACE, near)
    assert point == {"lr": 1.0, "batch": 0.1, "model": "tree", "depth": 3}
    assert [type(value) for value in point.values()] == [float, float, str, int]
    huge = {**near, "lr": -math.inf, "depth": math.inf}
    assert not SPACE.has(in_own_values(SPACE, huge))


def test_only_metrics_of_the_study_are_measured() -> None:
    check_metrics(CURVE[0], {"loss", "heat"}, "measurement")
    with pytest.raises(
        InvalidArgument, match=r"measurement.metrics: 'loss' given; allowed: .*heat"
    ):
        check_metrics(CURVE[0], {"heat"}, "measurement")
    check_whole(CURVE[0], [LOSS], "finalMeasurement")
    with pytest.raises(InvalidArgument, match=r"finalMeasurement.metrics: metric heat is missing"):
        check_whole(CURVE[0], [LOSS, Metric("heat")], "finalMeasurement")


def test_a_measurement_without_step_and_time_was_taken_now() -> None:
    assert timed(Measurement({"loss": 1.0}), trial(), LATER).elapsed_s == 90
    assert timed(Measurement({"loss": 1.0}, 5), trial(), LATER).elapsed_s == 0
    assert timed(Measurement({"loss": 1.0}, 0, 2.5), trial(), LATER).elapsed_s == 2.5
    assert timed(Measurement({"loss": 1.0}), TrialRecord(1, LINE, NOW), LATER).elapsed_s == 0


def test_the_same_measurement_has_the_same_key() -> None:
    one = report_of(Measurement({"loss": 1.0, "heat": 2.0}, 5), NOW)
    assert one.key == report_of(Measurement({"heat": 2.0, "loss": 1.0}, 5), LATER).key
    others = [
        Measurement({"loss": 1.0, "heat": 2.0}, 6),
        Measurement({"loss": 1.0, "heat": 3.0}, 5),
        Measurement({"loss": 1.0}, 5),
        Measurement({"loss": 1.0, "heat": 2.0}, 5, 1.0),
    ]
    assert one.key not in {report_of(other, NOW).key for other in others}


def test_a_curve_is_in_order_and_has_one_value_for_each_place() -> None:
    told = [(2, 0.0, 0.5), (1, 3.0, 0.6), (1, 2.0, 0.7), (2, 0.0, 0.4)]
    reports = [
        report_of(Measurement({"loss": loss}, step, elapsed), NOW) for step, elapsed, loss in told
    ]
    found = curve(reports)
    assert [(m.step, m.elapsed_s, m.values["loss"]) for m in found] == [
        (1, 2.0, 0.7),
        (1, 3.0, 0.6),
        (2, 0.0, 0.4),
    ]
