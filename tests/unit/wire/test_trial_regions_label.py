"""The label that spreads trials over regions, as both APIs read it."""

from __future__ import annotations

import pytest

from footplate.wire.trial_regions_label import LABEL, check_trial_regions, trial_regions
from tests.support.catalogue import built_in
from tests.unit.wire.vertex_v1_bodies import tune, tuning

TWO = {LABEL: "us-central1_europe-west4"}


def test_regions_are_those_of_the_label_in_its_order() -> None:
    assert trial_regions(TWO) == ("us-central1", "europe-west4")
    assert trial_regions({"team": "a"}) == trial_regions(None) == ()
    assert list(check_trial_regions(TWO, built_in())) == []
    assert list(check_trial_regions({"team": "a"}, built_in())) == []


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("", "nothing given; allowed: regions with _ between them"),
        ("us-central1_", "required: the region of the job"),
        ("us-central1_us-central9", "'us-central9' given, which is not a region of the catalogue"),
        ("us-central1,europe-west4", "is not a region of the catalogue"),
        ("us-central1_us-central1", "'us-central1' given twice; allowed: each region once"),
    ],
)
def test_a_label_that_names_no_regions_is_refused(value: str, said: str) -> None:
    (violation,) = check_trial_regions({LABEL: value}, built_in())
    assert violation.field == "labels.footplate-trial-regions"
    assert said in violation.description


def test_a_tuning_job_of_vertex_ai_is_checked_for_it_and_searches_there() -> None:
    submission = tune(tuning(labels={**TWO}))
    assert submission.search is not None
    assert submission.search.regions == ("us-central1", "europe-west4")
    (violation,) = tune(tuning(labels={LABEL: "nowhere"})).violations
    assert violation.field == "labels.footplate-trial-regions"
