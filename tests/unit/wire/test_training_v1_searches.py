"""What tuning jobs of ml v1 are to search for."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

from footplate.catalogue import load_catalogue
from footplate.domain.names import StudyName, TrainingJobName
from footplate.domain.studies.metrics import Goal, Selection
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import HalvingSpec
from footplate.domain.studies.study import Algorithm
from footplate.domain.submission import Submission
from footplate.domain.tuning.search import SearchRequest, TrialCounts
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.submissions import read_submission

if TYPE_CHECKING:
    from pydantic import JsonValue

CATALOGUE = load_catalogue()
RATE: JsonObject = {"parameterName": "lr", "type": "DOUBLE", "minValue": 0.1, "maxValue": 0.5}
SPACE = SearchSpace((DoubleParameter("lr", 0.1, 0.5),))


def read(search: JsonObject | None, labels: JsonObject | None = None) -> Submission:
    body: JsonObject = {
        "jobId": "job_1",
        "labels": labels or {},
        "trainingInput": {
            "region": "us-central1",
            "runtimeVersion": "2.21",
            "pythonVersion": "3.11",
            "packageUris": ["gs://b/trainer-0.1.tar.gz"],
            "pythonModule": "trainer.task",
            "hyperparameters": search,
        },
    }
    return read_submission(body, "demo", CATALOGUE)


def searched(labels: JsonObject | None = None, /, **search: JsonValue) -> SearchRequest:
    submission = read(search, labels)
    assert submission.violations == ()
    assert submission.search is not None
    return submission.search


def violations(search: JsonObject, labels: JsonObject | None = None) -> dict[str, str]:
    submission = read(search, labels)
    assert submission.search is None, "what is wrong is no search"
    return {violation.field: violation.description for violation in submission.violations}


def test_what_a_search_is_without_a_word_about_it() -> None:
    assert searched(params=[RATE]) == SearchRequest(
        counts=TrialCounts(1, 1, 0),
        space=SPACE,
        tag="training/hptuning/metric",
        goal=Goal.MAXIMIZE,
        algorithm=Algorithm.BAYESIAN,
        selection=Selection.LAST,
    )


def test_all_that_can_be_said() -> None:
    request = searched(
        goal="MINIMIZE",
        params=[RATE],
        maxTrials=30,
        maxParallelTrials="3",
        maxFailedTrials=2,
        hyperparameterMetricTag="val loss",
        algorithm="RANDOM_SEARCH",
        enableTrialEarlyStopping=True,
    )
    assert request == SearchRequest(
        counts=TrialCounts(30, 3, 2),
        space=SPACE,
        tag="val loss",
        goal=Goal.MINIMIZE,
        algorithm=Algorithm.RANDOM,
        stopping=HalvingSpec(),
    )


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        (
            {"type": "DOUBLE", "minValue": 0.001, "maxValue": 1, "scaleType": "UNIT_LOG_SCALE"},
            DoubleParameter("x", 0.001, 1.0, Scale.LOG),
        ),
        (
            {"type": "DOUBLE", "minValue": -1.5, "scaleType": "UNIT_LINEAR_SCALE"},
            DoubleParameter("x", -1.5, 0.0, Scale.LINEAR),
        ),
        (
            {"type": "INTEGER", "minValue": 4, "maxValue": 8, "scaleType": 3},
            IntegerParameter("x", 4, 8, Scale.REVERSE_LOG),
        ),
        ({"type": "INTEGER", "maxValue": 8.0}, IntegerParameter("x", 0, 8)),
        (
            {"type": "DISCRETE", "discreteValues": [1, 2.5], "scaleType": "NONE"},
            DiscreteParameter("x", (1.0, 2.5)),
        ),
        (
            {"type": "CATEGORICAL", "categoricalValues": ["b", "a", "b"]},
            CategoricalParameter("x", ("b", "a")),
        ),
    ],
)
def test_parameters(given: JsonObject, parameter: DoubleParameter) -> None:
    assert searched(params=[{"parameterName": "x", **given}]).space == SearchSpace((parameter,))


def test_bounds_of_integers_are_integers() -> None:
    given: JsonObject = {"parameterName": "n", "type": "INTEGER", "minValue": 1, "maxValue": 9}
    space = searched(params=[given]).space
    assert space is not None
    assert [type(v) for v in space.point_at(0).values()] == [int]


def test_grid() -> None:
    values: JsonObject = {"parameterName": "x", "type": "DISCRETE", "discreteValues": [1]}
    assert searched(params=[values], algorithm="GRID_SEARCH").algorithm is Algorithm.GRID


def test_what_a_resumed_search_leaves_open_stays_open() -> None:
    request = searched(resumePreviousJobId="job_0", maxTrials=5)
    assert request == SearchRequest(
        counts=TrialCounts(5), resumes=TrainingJobName("demo", "job_0"), tag=None, goal=None
    )


def test_what_a_resumed_search_gives_is_kept_to_be_compared() -> None:
    request = searched(
        resumePreviousJobId="job_0",
        params=[RATE],
        goal="MINIMIZE",
        hyperparameterMetricTag="loss",
    )
    assert (request.space, request.goal, request.tag) == (SPACE, Goal.MINIMIZE, "loss")


@pytest.mark.parametrize(
    ("resumed", "goal"), [("", Goal.MAXIMIZE), ("job_0", None)], ids=["new", "resumed"]
)
def test_a_goal_that_says_nothing(resumed: str, goal: Goal | None) -> None:
    request = searched(params=[RATE], resumePreviousJobId=resumed, goal="GOAL_TYPE_UNSPECIFIED")
    assert request.goal is goal


def test_learning_from_an_earlier_job() -> None:
    request = searched({"footplate-learn-from": "job_0"}, params=[RATE])
    assert request.learns_from == TrainingJobName("demo", "job_0")
    assert searched({"team": "a"}, params=[RATE]).learns_from is None


def test_learning_from_a_study_of_the_same_region() -> None:
    request = searched({"footplate-learn-from": "17"}, params=[RATE])
    assert request.learns_from == StudyName("demo", "us-central1", "17")


def test_trials_in_several_regions() -> None:
    label = "footplate-trial-regions"
    request = searched({label: "us-central1_europe-west4"}, params=[RATE])
    assert request.regions == ("us-central1", "europe-west4")
    assert list(violations({"params": [RATE]}, {label: "nowhere"})) == [f"labels.{label}"]


@pytest.mark.parametrize("value", ["", "job_1"])
def test_learning_from_nothing_or_from_itself(value: str) -> None:
    found = violations({"params": [RATE]}, {"footplate-learn-from": value})
    assert list(found) == ["labels.footplate-learn-from"]
    assert found["labels.footplate-learn-from"].endswith(
        "allowed: the id of an earlier tuning job or study"
    )


def test_a_job_without_a_search() -> None:
    submission = read(None)
    assert (submission.violations, submission.search) == ((), None)


def _param(**changes: JsonValue) -> JsonObject:
    return {**RATE, **changes}


BAD: list[tuple[str, JsonObject, str]] = [
    ("empty range", {"params": [_param(minValue=2)]}, "params[0].maxValue"),
    (
        "log scale over zero",
        {"params": [_param(minValue=0, scaleType="UNIT_LOG_SCALE")]},
        "params[0].minValue",
    ),
    (
        "grid with DOUBLE",
        {"params": [RATE], "algorithm": "GRID_SEARCH"},
        "params[0].type",
    ),
    ("duplicate names", {"params": [RATE, RATE]}, "params[1].parameterName"),
    (
        "too many discrete values",
        {"params": [_param(type="DISCRETE", discreteValues=list(range(1001)))]},
        "params[0].discreteValues",
    ),
    (
        "more may fail than there are",
        {"params": [RATE], "maxTrials": 5, "maxFailedTrials": 6},
        "maxFailedTrials",
    ),
    ("resume of itself", {"resumePreviousJobId": "job_1"}, "resumePreviousJobId"),
    (
        "too many parameters",
        {"params": [_param(parameterName=f"p{i}") for i in range(1001)]},
        "params",
    ),
]


@pytest.mark.parametrize(("search", "field"), [bad[1:] for bad in BAD], ids=[b[0] for b in BAD])
def test_bad_input(search: JsonObject, field: str) -> None:
    assert list(violations(search)) == [f"trainingInput.hyperparameters.{field}"]


def test_more_at_once_than_in_all_is_only_strange() -> None:
    submission = read({"params": [RATE], "maxTrials": 20, "maxParallelTrials": 30})
    assert submission.warnings == (
        (
            "trainingInput.hyperparameters.maxParallelTrials is 30, but maxTrials is 20: 20 "
            "trials run at once"
        ),
    )
    assert submission.search is not None
    assert submission.search.counts == TrialCounts(20, 30)


def test_the_widest_bounds_that_doubles_have() -> None:
    widest: JsonObject = {"type": "DOUBLE", "minValue": -1e308, "maxValue": 1e308}
    space = searched(params=[{"parameterName": "x", **widest}]).space
    assert space is not None
    assert all(isinstance(p, DoubleParameter) and math.isfinite(p.low) for p in space.parameters)
