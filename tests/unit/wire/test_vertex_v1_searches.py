"""What tuning jobs and studies of aiplatform v1 are to search for."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from footplate.domain.jobs import Directory
from footplate.domain.names import TuningJobName
from footplate.domain.studies.metrics import Goal, Metric, Selection
from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import ConvexSpec, DecayCurveSpec, MedianSpec, StoppingSpec
from footplate.domain.studies.study import Algorithm, Noise, StudyConfig, StudyLimits
from footplate.domain.tuning.search import SearchRequest, TrialCounts
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.study_configs import study_config
from footplate.wire.vertex_v1.study_models import StudySpec
from tests.unit.wire.vertex_v1_bodies import METRIC, RATE, pool, search, study, tune, tuning

if TYPE_CHECKING:
    from pydantic import JsonValue

SPACE = SearchSpace(
    (DoubleParameter("lr", 0.001, 0.1, Scale.LOG), IntegerParameter("layers", 1, 5))
)
LOSS = Metric("loss", Goal.MINIMIZE)


def searched(document: JsonObject) -> SearchRequest:
    submission = tune(document)
    assert submission.violations == ()
    assert submission.search is not None
    return submission.search


def config(**changes: JsonValue) -> StudyConfig:
    return study_config(StudySpec.decode(study(**changes)))


def test_a_tuning_job() -> None:
    given = tuning(maxFailedTrialCount=3, labels={"footplate-learn-from": "17"})
    assert searched(given) == SearchRequest(
        counts=TrialCounts(20, 2, 3),
        space=SPACE,
        metrics=(LOSS,),
        learns_from=TuningJobName("demo", "us-central1", "17"),
    )


def test_what_a_job_says_reaches_its_search() -> None:
    said: JsonObject = {
        "algorithm": "RANDOM_SEARCH",
        "measurementSelectionType": "BEST_MEASUREMENT",
        "decayCurveStoppingSpec": {},
        "studyStoppingConfig": {"maxNumTrials": 7},
    }
    assert searched(search(RATE, **said)) == SearchRequest(
        counts=TrialCounts(20, 2),
        space=SearchSpace(SPACE.parameters[:1]),
        metrics=(LOSS,),
        algorithm=Algorithm.RANDOM,
        selection=Selection.BEST,
        stopping=DecayCurveSpec(),
        limits=StudyLimits(max_trials=7),
    )


@pytest.mark.parametrize(
    ("given", "parameter"),
    [
        ({"doubleValueSpec": {"maxValue": 1}}, DoubleParameter("x", 0.0, 1.0)),
        (
            {"doubleValueSpec": {"maxValue": 1, "defaultValue": 0.5}, "scaleType": 1},
            DoubleParameter("x", 0.0, 1.0, Scale.LINEAR, 0.5),
        ),
        (
            {
                "integerValueSpec": {"minValue": "1", "maxValue": "9", "defaultValue": "2"},
                "scaleType": "UNIT_REVERSE_LOG_SCALE",
            },
            IntegerParameter("x", 1, 9, Scale.REVERSE_LOG, 2),
        ),
        (
            {"discreteValueSpec": {"values": [1, 2], "defaultValue": 2}, "scaleType": 2},
            DiscreteParameter("x", (1.0, 2.0), Scale.LOG, 2.0),
        ),
        (
            {"categoricalValueSpec": {"values": ["b", "a", "b"], "defaultValue": "a"}},
            CategoricalParameter("x", ("b", "a"), "a"),
        ),
    ],
)
def test_parameters(given: JsonObject, parameter: Parameter) -> None:
    assert config(parameters=[{"parameterId": "x", **given}]).space == SearchSpace((parameter,))


def test_parameters_below_others() -> None:
    leaf: JsonObject = {"parameterId": "leaf", "integerValueSpec": {"maxValue": 3}}
    number: JsonObject = {
        "parameterId": "number",
        "discreteValueSpec": {"values": [0.1, 0.2]},
        "conditionalParameterSpecs": [
            {"parameterSpec": leaf, "parentDiscreteValues": {"values": [0.1 + 1e-11, 0.1]}}
        ],
    }
    root: JsonObject = {
        "parameterId": "root",
        "categoricalValueSpec": {"values": ["a", "b", "c"]},
        "conditionalParameterSpecs": [
            {"parameterSpec": number, "parentCategoricalValues": {"values": ["c", "a"]}},
            {"parameterSpec": leaf, "parentCategoricalValues": {"values": ["b"]}},
        ],
    }
    below = IntegerParameter("leaf", 0, 3)
    middle = DiscreteParameter("number", (0.1, 0.2), branches=(Branch((0.1,), below),))
    branches = (Branch(("c", "a"), middle), Branch(("b",), below))
    top = CategoricalParameter("root", ("a", "b", "c"), branches=branches)
    assert searched(search(root)).space == SearchSpace((top,))


def test_integers_below_integers() -> None:
    leaf: JsonObject = {"parameterId": "leaf", "doubleValueSpec": {"maxValue": 1}}
    root: JsonObject = {
        "parameterId": "root",
        "integerValueSpec": {"maxValue": 5},
        "conditionalParameterSpecs": [
            {"parameterSpec": leaf, "parentIntValues": {"values": ["2", 3]}}
        ],
    }
    branches = (Branch((2, 3), DoubleParameter("leaf", 0, 1)),)
    top = IntegerParameter("root", 0, 5, branches=branches)
    assert searched(search(root)).space == SearchSpace((top,))


@pytest.mark.parametrize(
    ("given", "goal"),
    [({}, Goal.MAXIMIZE), ({"goal": 1}, Goal.MAXIMIZE), ({"goal": "MINIMIZE"}, Goal.MINIMIZE)],
)
def test_goals(given: JsonObject, goal: Goal) -> None:
    assert config(metrics=[{"metricId": "m", **given}]).metrics == (Metric("m", goal),)


def test_a_metric_that_only_tells_what_is_safe_is_no_goal() -> None:
    safe: JsonObject = {"metricId": "heat", "safetyConfig": {"safetyThreshold": 90}}
    submission = tune(tuning(studySpec=study(metrics=[METRIC, safe])))
    assert submission.search is not None
    assert submission.search.metrics == (LOSS,)
    (said,) = submission.parity
    assert said.startswith("studySpec.metrics[1].safetyConfig has no effect here; Google's ")


@pytest.mark.parametrize(
    ("said", "spec"),
    [
        ({}, None),
        ({"decayCurveStoppingSpec": {"useElapsedDuration": True}}, DecayCurveSpec(True)),
        ({"medianAutomatedStoppingSpec": {}}, MedianSpec()),
        ({"medianAutomatedStoppingSpec": {"useElapsedDuration": True}}, MedianSpec(True)),
        ({"convexAutomatedStoppingSpec": {}}, ConvexSpec()),
        (
            {
                "convexAutomatedStoppingSpec": {
                    "maxStepCount": "100",
                    "minStepCount": "5",
                    "minMeasurementCount": "3",
                    "learningRateParameterName": "lr",
                    "useElapsedDuration": True,
                    "updateAllStoppedTrials": True,
                }
            },
            ConvexSpec(100, 5, 3, "lr", use_elapsed=True, update_all_stopped=True),
        ),
    ],
)
def test_stopping(said: JsonObject, spec: StoppingSpec | None) -> None:
    assert config(**said).stopping == spec


def test_limits() -> None:
    assert config().limits is None
    assert config(studyStoppingConfig={}).limits == StudyLimits()
    said: JsonObject = {
        "shouldStopAsap": True,
        "minNumTrials": 2,
        "maxNumTrials": 9,
        "maxNumTrialsNoProgress": 4,
        "maxDurationNoProgress": "90s",
        "minimumRuntimeConstraint": {"maxDuration": "1.5s"},
        "maximumRuntimeConstraint": {"endTime": "2030-01-01T01:00:00+01:00"},
    }
    assert config(studyStoppingConfig=said).limits == StudyLimits(
        stop_asap=True,
        min_trials=2,
        max_trials=9,
        max_trials_no_progress=4,
        max_duration_no_progress_s=90.0,
        min_duration_s=1.5,
        max_end=datetime(2030, 1, 1, tzinfo=UTC),
    )


def test_noise_and_selection() -> None:
    assert config().noise is Noise.LOW
    assert config(observationNoise="HIGH").noise is Noise.HIGH
    assert config().selection is Selection.LAST
    assert config(measurementSelectionType=2).selection is Selection.BEST


def test_grid() -> None:
    layers: JsonObject = {"parameterId": "layers", "integerValueSpec": {"maxValue": 5}}
    assert searched(search(layers, algorithm=2)).algorithm is Algorithm.GRID


BAD: list[tuple[str, JsonObject, str]] = [
    (
        "empty range",
        search({"parameterId": "x", "doubleValueSpec": {"minValue": 1}}),
        "studySpec.parameters[0].doubleValueSpec.maxValue",
    ),
    (
        "log scale over zero",
        search({**RATE, "doubleValueSpec": {"minValue": 0, "maxValue": 1}}),
        "studySpec.parameters[0].doubleValueSpec.minValue",
    ),
    ("grid with DOUBLE", search(RATE, algorithm=2), "studySpec.parameters[0].doubleValueSpec"),
    ("duplicate names", search(RATE, RATE), "studySpec.parameters[1].parameterId"),
    (
        "too many discrete values",
        search({"parameterId": "x", "discreteValueSpec": {"values": list(range(1001))}}),
        "studySpec.parameters[0].discreteValueSpec.values",
    ),
    ("more may fail than there are", tuning(maxFailedTrialCount=21), "maxFailedTrialCount"),
    (
        "several goals and automated stopping",
        tuning(studySpec=study(metrics=[METRIC, {"metricId": "b"}], decayCurveStoppingSpec={})),
        "studySpec.decayCurveStoppingSpec",
    ),
    (
        "learning from nothing",
        tuning(labels={"footplate-learn-from": ""}),
        "labels.footplate-learn-from",
    ),
]


@pytest.mark.parametrize(("given", "field"), [bad[1:] for bad in BAD], ids=[b[0] for b in BAD])
def test_bad_input(given: JsonObject, field: str) -> None:
    submission = tune(given)
    assert [violation.field for violation in submission.violations] == [field]
    assert submission.search is None


def test_more_at_once_than_in_all_is_only_strange() -> None:
    submission = tune(tuning(parallelTrialCount=30))
    said = "parallelTrialCount is 30, but maxTrialCount is 20: 20 trials run at once"
    assert said in submission.warnings
    assert submission.search is not None


def test_where_the_number_of_a_trial_goes_in_its_directories() -> None:
    output: JsonObject = {"outputUriPrefix": "gs://b/out"}
    spec: JsonObject = {"workerPoolSpecs": [pool()], "baseOutputDirectory": output}
    directories = tune(tuning(trialJobSpec=spec)).spec.directories
    field = "trialJobSpec.baseOutputDirectory.outputUriPrefix"
    assert directories == (
        Directory("AIP_MODEL_DIR", "gs://b/out/model/", field, "model/"),
        Directory("AIP_CHECKPOINT_DIR", "gs://b/out/checkpoints/", field, "checkpoints/"),
        Directory("AIP_TENSORBOARD_LOG_DIR", "gs://b/out/logs/", field, "logs/"),
    )
