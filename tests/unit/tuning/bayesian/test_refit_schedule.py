"""When models are fitted."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from footplate.tuning.bayesian.model import counts, following, lineage, newest, wanted

COUNTS = st.integers(0, 2000)
INHERITED = st.integers(0, 500)


@given(COUNTS, INHERITED)
def test_the_newest_is_the_last_of_the_chain(finished: int, inherited: int) -> None:
    last = newest(finished, inherited)
    assert last <= finished < following(last, inherited)
    assert counts(finished, inherited)[-1] == last


@given(COUNTS, INHERITED)
def test_a_suggestion_never_goes_back_to_an_older_model(finished: int, inherited: int) -> None:
    assert wanted(finished, inherited) <= wanted(finished + 1, inherited)
    assert wanted(finished, inherited) in counts(finished, inherited)


@given(COUNTS, INHERITED)
def test_past_the_first_trials_there_is_time_for_a_fit(finished: int, inherited: int) -> None:
    if finished and finished + inherited > 20:
        assert wanted(finished, inherited) < finished


def test_early_each_trial_counts_and_later_one_in_25() -> None:
    assert counts(20) == list(range(21))
    assert [wanted(finished) for finished in (0, 1, 19, 20, 21, 22)] == [0, 1, 19, 20, 20, 21]
    assert following(49) == 51
    assert counts(300)[-2:] == [280, 291]
    assert [wanted(finished) for finished in (291, 292, 300)] == [280, 291, 291]


def test_inherited_trials_count() -> None:
    assert following(0, inherited=300) == 12
    assert wanted(0, inherited=300) == 0


@given(COUNTS, INHERITED)
def test_few_models_have_to_be_made_however_many_trials_ended_at_once(
    finished: int, inherited: int
) -> None:
    needed = lineage(wanted(finished, inherited), inherited)
    assert needed[0] == 0
    assert needed[-1] == wanted(finished, inherited)
    assert len(needed) <= len(counts(128))


def test_past_128_trials_a_model_begins_anew() -> None:
    assert lineage(126) == counts(126)
    assert lineage(997) == [0, 997]
    assert lineage(12, inherited=300) == [0, 12]
