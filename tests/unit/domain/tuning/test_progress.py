"""How a search goes on, whatever its trials do."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import ClusterVariable, Ending
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.trials import TrialState
from footplate.domain.tuning.progress import (
    End,
    Suggest,
    Wait,
    explain_end,
    next_step,
    why_stopped,
)
from tests.support.jobs import make_spec
from tests.support.searches import make_search, make_trial

STATES = {
    "r": (TrialState.ACTIVE, None, None),
    "g": (TrialState.SUCCEEDED, 0.5, State.SUCCEEDED),
    "x": (TrialState.INFEASIBLE, None, State.FAILED),
    "u": (TrialState.INFEASIBLE, None, State.SUCCEEDED),
    "c": (TrialState.INFEASIBLE, None, State.CANCELLED),
}
"""Running; good; crashed; unmeasured; cancelled."""


def trials(letters: str) -> list[TrialRecord]:
    return [
        make_trial(number, state, value=value, outcome=outcome, why="why")
        for number, (state, value, outcome) in enumerate(map(STATES.__getitem__, letters), 1)
    ]


def end(letters: str, total: int = 4, failed: int = 0, nothing_more: str = "") -> tuple[State, str]:
    step = next_step(make_search(trials=total, failed=failed), trials(letters), nothing_more)
    assert isinstance(step, End)
    return step.ending.state, step.ending.message


@pytest.mark.parametrize(
    ("letters", "count"), [("", 2), ("r", 1), ("g", 2), ("gr", 1), ("ggg", 1), ("ggr", 1)]
)
def test_as_many_run_at_once_as_may(letters: str, count: int) -> None:
    assert next_step(make_search(trials=4, parallel=2), trials(letters)) == Suggest(count)


@pytest.mark.parametrize("letters", ["rr", "grr", "gggr", "ggxr"])
def test_otherwise_it_waits(letters: str) -> None:
    assert next_step(make_search(trials=4, parallel=2), trials(letters)) == Wait()


def test_where_an_estimator_has_no_evaluator_the_end_says_to_add_one() -> None:
    _, message = end("uuuu")
    ending = Ending(State.FAILED, Code.FAILED_PRECONDITION, message)
    tells = frozenset({ClusterVariable.TF_CONFIG})
    gang = replace(make_spec(workers=1), cluster_variables=tells, chief_role="chief")

    told = explain_end(gang, ending).message
    assert (
        "on a cluster reports only beside an evaluator: add an evaluator (evaluatorType, and "
    ) in told
    assert "evaluatorCount: 1)" in told
    alone = replace(make_spec(), cluster_variables=tells, chief_role="chief")
    evaluated = replace(
        make_spec(workers=1, evaluators=1), cluster_variables=tells, chief_role="chief"
    )
    for other in (alone, evaluated, replace(gang, chief_role="master")):
        assert explain_end(other, ending) is ending


def test_all_done_with_a_value_is_a_success() -> None:
    assert end("gggg") == (State.SUCCEEDED, "")
    assert end("gcug") == (State.SUCCEEDED, "")


def test_fewer_trials_than_asked_for_are_no_error() -> None:
    assert end("gg", total=9, nothing_more="all 2 points have been tried")[0] is State.SUCCEEDED
    assert next_step(make_search(trials=9), trials("gr"), "all were tried") == Wait()


def test_no_value_at_all_is_a_failure_that_says_so() -> None:
    state, message = end("uuuu")

    assert state is State.FAILED
    assert message.startswith(
        "none of 4 trials reported the metric rmse. Tags seen: none. Programs report with"
    )
    assert end("ucccc", total=5)[1] == (
        "none of 5 trials reported the metric rmse; the last: trial 5: why"
    )


def test_trials_that_reported_and_have_no_result_are_a_failure_that_says_why() -> None:
    step = next_step(make_search(trials=3), trials("ccc"), reported={1, 3})

    assert isinstance(step, End)
    assert step.ending.message == (
        "2 of 3 trials reported rmse, but no trial has a result; the last: trial 3: why"
    )


def test_nothing_to_try_is_a_failure_with_the_reason() -> None:
    state, message = end("", nothing_more="all 2 points have been tried")

    assert state is State.FAILED
    assert "all 2 points have been tried" in message


@pytest.mark.parametrize("letters", ["x", "xr", "rgx"[::-1]])
def test_the_first_trials_failure_ends_the_job_at_once(letters: str) -> None:
    state, message = end(letters, total=30)

    assert state is State.FAILED
    assert message.startswith("trial 1 failed: why. A search without a limit")


@pytest.mark.parametrize("letters", ["rx", "gx", "gxxxx", "ux", "cx", "gggggxxxxx"])
def test_later_failures_end_nothing_while_they_are_few(letters: str) -> None:
    assert not isinstance(next_step(make_search(trials=30), trials(letters)), End)


@pytest.mark.parametrize("letters", ["rxxxxx", "ggxxxxx", "g" * 20 + "x" * 11])
def test_too_many_failures_end_it(letters: str) -> None:
    state, message = end(letters, total=40)

    assert state is State.FAILED
    assert "failed" in message
    assert message.endswith(f"trial {len(letters)}: why")


@pytest.mark.parametrize("letters", ["u" * 5, "uuuucur", "uuxuxr"])
def test_a_search_without_any_measurement_ends_after_five_trials(letters: str) -> None:
    state, message = end(letters, total=40)

    assert state is State.FAILED
    assert message.startswith("none of 5 trials reported the metric rmse")


def test_the_tags_that_programs_reported_instead_are_named() -> None:
    named = [replace(trial, tags_seen=("loss", f"tag {trial.number}")) for trial in trials("uuuuu")]
    step = next_step(make_search(trials=40), named)

    assert isinstance(step, End)
    seen = "loss, tag 1, tag 2, tag 3, tag 4, tag 5"
    assert f"reported the metric rmse. Tags seen: {seen}. Programs" in step.ending.message


@pytest.mark.parametrize("letters", ["uuuu", "uuuucccc", "guuuuuuu", "uuuuur"])
def test_a_search_in_which_a_trial_has_reported_goes_on(letters: str) -> None:
    """Also one that still runs, or that has no result for another reason."""
    reported = {6} if letters.endswith("r") else frozenset[int]()
    assert next_step(make_search(trials=30), trials(letters), "", reported) == Suggest(
        2 - letters.count("r")
    )


def test_with_a_number_of_failures_given_unreported_trials_count_to_it() -> None:
    step = next_step(make_search(trials=30, failed=8), trials("u" * 7))
    assert step == Suggest(2)


@pytest.mark.parametrize(
    ("ending", "told"),
    [
        (
            Ending(State.FAILED, message="trial 1 failed: it exited with 1. The first"),
            "stopped because trial 1 failed",
        ),
        (
            Ending(State.FAILED, message="5 trials failed, and 2 succeeded; the last: trial 7: x"),
            "stopped because 5 trials failed, and 2 succeeded",
        ),
        (
            Ending(State.CANCELLED, message="cancelled by request of gcloud"),
            "stopped because the tuning job was cancelled by request of gcloud",
        ),
        (Ending(State.SUCCEEDED), "stopped because the search has ended"),
    ],
)
def test_why_trials_stop_when_their_search_ends(ending: Ending, told: str) -> None:
    assert why_stopped(ending) == told


@pytest.mark.parametrize(
    ("letters", "ends"), [("x", False), ("xu", True), ("ux", True), ("gxg", False), ("xcx", True)]
)
def test_with_a_number_given_failures_of_either_kind_count(letters: str, *, ends: bool) -> None:
    step = next_step(make_search(trials=30, failed=2), trials(letters))

    assert isinstance(step, End) is ends


def test_what_was_cancelled_is_no_failure() -> None:
    assert next_step(make_search(trials=30, failed=1), trials("ccc")) == Suggest(2)
