"""What is said of the trials that a search goes on from."""

from __future__ import annotations

from dataclasses import replace

from footplate.domain.studies.metrics import Goal, Metric
from footplate.domain.studies.study import Study
from footplate.domain.studies.trials import TrialState
from footplate.domain.tuning.prior_trials import describe_prior, prior_trials
from tests.support.searches import RMSE, make_search, make_trial

SEARCH = replace(make_search(), resumes="projects/demo/jobs/rate_1")


def study(*values: float, metric: Metric = RMSE) -> Study:
    trials = [
        make_trial(number, TrialState.SUCCEEDED, value=value).trial()
        for number, value in enumerate(values, 1)
    ]
    return Study(make_search(metric=metric).study, tuple(trials))


def told(*earlier: Study) -> str:
    prior = prior_trials(SEARCH, earlier)
    assert prior is not None
    return describe_prior(prior, SEARCH)


def test_a_search_that_begins_anew_has_none() -> None:
    assert prior_trials(make_search(), ()) is None


def test_the_best_of_the_job_that_it_resumes() -> None:
    assert told(study(0.5, 0.25, 0.75)) == (
        "goes on from rate_1: 3 earlier trials inform this search as if they were its own; "
        "the best is trial 2 of rate_1, rmse = 0.25"
    )


def test_trials_of_jobs_before_that_count_and_have_no_number() -> None:
    assert told(study(0.1), study(0.5)).endswith(
        "2 earlier trials inform this search as if they were its own; "
        "the best is an older one, rmse = 0.1"
    )


def test_other_metrics_have_no_best() -> None:
    assert told(study(0.1, metric=Metric("loss", Goal.MINIMIZE))) == (
        "goes on from rate_1: 1 earlier trial informs this search as if they were its own"
    )


def test_no_finished_trial() -> None:
    assert told() == "rate_1 has no finished trial: this search starts without earlier trials"
