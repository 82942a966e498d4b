"""Studies and trials of ml v1: what requests mean, what is refused, and what answers look like."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.names import StudyName, StudyUid, TrialName
from footplate.domain.studies.metrics import Goal, Measurement
from footplate.domain.studies.parameters import CategoricalParameter, DoubleParameter, Scale
from footplate.domain.studies.records import StudyRecord, StudyState, TrialRecord
from footplate.domain.studies.space import Point
from footplate.domain.studies.stopping import DecayCurveSpec
from footplate.domain.studies.study import Algorithm
from footplate.domain.studies.trials import TrialState
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.studies.requests import (
    read_measurement,
    read_outcome,
    read_study,
    read_suggest,
    read_trial,
)
from footplate.wire.training_v1.studies.responses import (
    StudyOperationId,
    check_json,
    study_json,
    suggestion_json,
    trial_json,
)
from footplate.wire.vertex_v1 import vizier_responses
from footplate.wire.vertex_v1.vizier_operations import CheckId, SuggestionId
from footplate.wire.vertex_v1.vizier_requests import metric_ids

AT = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
TIME = "2026-01-02T03:04:05.000000Z"
STUDY = StudyName("demo", "us-central1", "CloudTuner_1")
RATE: JsonObject = {
    "parameter": "rate",
    "type": "DOUBLE",
    "doubleValueSpec": {"minValue": 0.001, "maxValue": 0.1},
    "scaleType": "UNIT_LOG_SCALE",
}
DEPTH: JsonObject = {
    "parameter": "depth",
    "type": "INTEGER",
    "integerValueSpec": {"minValue": "1", "maxValue": "5"},
    "parentCategoricalValues": {"values": ["tree"]},
}
KIND: JsonObject = {
    "parameter": "kind",
    "type": "CATEGORICAL",
    "categoricalValueSpec": {"values": ["tree", "line"]},
    "childParameterSpecs": [DEPTH],
}
CONFIG: JsonObject = {
    "metrics": [{"metric": "loss", "goal": "MINIMIZE"}],
    "parameters": [RATE, KIND],
    "algorithm": "GAUSSIAN_PROCESS_BANDIT",
    "automatedStoppingConfig": {"decayCurveStoppingConfig": {"useElapsedTime": True}},
}
LOSS: JsonObject = {"metric": "loss", "value": 0.5}
MEASURED: JsonObject = {"stepCount": "3", "elapsedTime": "1.5s", "metrics": [LOSS]}
POINT: list[JsonObject] = [
    {"parameter": "rate", "floatValue": 0.01},
    {"parameter": "depth", "intValue": "3"},
    {"parameter": "kind", "stringValue": "tree"},
]


def named(body: JsonObject) -> object:
    return read_study(body, "a")


def config(**changes: Any) -> JsonObject:
    return {"studyConfig": {**CONFIG, **changes}}


def measured(**changes: Any) -> JsonObject:
    return {"measurement": {**MEASURED, **changes}}


def record(config: JsonObject) -> StudyRecord:
    request = read_study({"studyConfig": config}, STUDY.study_id)
    return StudyRecord(
        StudyUid("u"), STUDY, request.display_name, request.config, request.request, 1, AT
    )


def test_a_study_is_one_of_vizier() -> None:
    request = read_study({"studyConfig": CONFIG}, "CloudTuner_1")
    assert (request.study_id, request.display_name) == ("CloudTuner_1", "CloudTuner_1")
    rate, kind = request.config.space.parameters
    assert rate == DoubleParameter("rate", 0.001, 0.1, Scale.LOG)
    assert isinstance(kind, CategoricalParameter)
    (branch,) = kind.branches
    assert (branch.values, branch.parameter.name) == (("tree",), "depth")
    assert request.config.metrics[0].goal is Goal.MINIMIZE
    assert request.config.algorithm is Algorithm.BAYESIAN
    assert request.config.stopping == DecayCurveSpec(use_elapsed=True)
    assert metric_ids(request.request) == {"loss"}


def test_a_study_has_the_form_of_each_api() -> None:
    study = record(CONFIG)
    told = study_json(study)
    assert told == {
        "name": str(STUDY),
        "studyConfig": CONFIG,
        "state": "ACTIVE",
        "createTime": TIME,
    }
    theirs: Any = vizier_responses.study_json(study)
    assert theirs["displayName"] == "CloudTuner_1"
    spec = theirs["studySpec"]
    assert spec["metrics"] == [{"metricId": "loss", "goal": "MINIMIZE"}]
    assert spec["algorithm"] == "ALGORITHM_UNSPECIFIED"
    assert spec["decayCurveStoppingSpec"] == {"useElapsedDuration": True}
    (child,) = spec["parameters"][1]["conditionalParameterSpecs"]
    assert child["parentCategoricalValues"] == {"values": ["tree"]}
    assert child["parameterSpec"]["integerValueSpec"] == {"minValue": "1", "maxValue": "5"}


def test_snake_case_and_what_cloud_tuner_sends_are_understood() -> None:
    """It writes a duration as the message that it is."""
    parameter = {
        "parameter": "x",
        "type": "INTEGER",
        "integer_value_spec": {"min_value": 1, "max_value": 4},
        "scale_type": "UNIT_LINEAR_SCALE",
    }
    sent: Any = {"metrics": [{"metric": "acc", "goal": "MAXIMIZE"}], "parameters": [parameter]}
    request = read_study({"study_config": sent}, "a")
    (stored,) = json.loads(request.request)["parameters"]
    assert stored["integerValueSpec"] == {"minValue": "1", "maxValue": "4"}
    told: list[tuple[Any, float]] = [({"seconds": 7}, 7), ({"nanos": 5 * 10**8}, 0.5), ("3s", 3)]
    for elapsed, seconds in told:
        assert read_measurement(measured(elapsedTime=elapsed)).elapsed_s == seconds
    told_nan = read_measurement(measured(metrics=[{"metric": "loss", "value": "NaN"}]))
    assert math.isnan(told_nan.values["loss"])
    assert read_suggest({"suggestion_count": 2, "client_id": "a"}).count == 2
    assert read_outcome({"trial_infeasible": False, "infeasible_reason": None}).final is None


def test_a_trial_that_a_client_adds() -> None:
    new = read_trial({"parameters": [*POINT]})
    assert new.state is TrialState.REQUESTED
    assert new.point == {"rate": 0.01, "depth": 3, "kind": "tree"}
    assert isinstance(new.point["depth"], int)
    done = read_trial({"parameters": [*POINT], "state": "COMPLETED", "finalMeasurement": MEASURED})
    assert done.state is TrialState.SUCCEEDED
    assert done.final == Measurement({"loss": 0.5}, 3, 1.5)
    failed = read_trial({"parameters": [*POINT], "state": "COMPLETED", "trialInfeasible": True})
    assert failed.state is TrialState.INFEASIBLE


def test_a_trial_is_completed_however_it_ended() -> None:
    point: Point = {"rate": 0.01, "depth": 3, "kind": "tree"}
    trial = TrialRecord(2, point, AT, TrialState.SUCCEEDED, AT, AT, final=Measurement({"loss": 1}))
    assert trial_json(str(STUDY), trial) == {
        "name": f"{STUDY}/trials/2",
        "state": "COMPLETED",
        "parameters": POINT,
        "finalMeasurement": {
            "elapsedTime": "0s",
            "stepCount": "0",
            "metrics": [{"metric": "loss", "value": 1}],
        },
        "startTime": TIME,
        "endTime": TIME,
    }
    failed = TrialRecord(3, point, AT, TrialState.INFEASIBLE, infeasible_reason="no memory")
    told = trial_json(str(STUDY), failed)
    assert (told["state"], told["trialInfeasible"]) == ("COMPLETED", True)
    assert told["infeasibleReason"] == "no memory"
    for state in (TrialState.REQUESTED, TrialState.ACTIVE, TrialState.STOPPING):
        assert trial_json(str(STUDY), TrialRecord(4, point, AT, state))["state"] == state.name


def test_an_operation_belongs_to_the_location_and_says_its_study() -> None:
    """CloudTuner asks for it by the last part of its name."""
    of = SuggestionId.of("v1", AT, StudyState.ACTIVE, [1, 2, 5])
    told: Any = suggestion_json(STUDY, of, 4, "a", [{"name": "x"}])
    parent, _, text = told["name"].rpartition("/")
    assert parent == "projects/demo/locations/us-central1/operations"
    assert StudyOperationId.parse(text) == StudyOperationId(of, 4, "CloudTuner_1")
    assert told["metadata"]["suggestionCount"] == 4
    assert told["response"]["trials"] == [{"name": "x"}]
    check: Any = check_json(TrialName(STUDY, 7), CheckId("v1", AT, should_stop=True))
    found = StudyOperationId.parse(check["name"].rpartition("/")[2])
    assert found == StudyOperationId(CheckId("v1", AT, should_stop=True), 7, "CloudTuner_1")
    assert check["metadata"]["trial"] == f"{STUDY}/trials/7"
    assert check["response"]["shouldStop"] is True
    of_vertex = ("delete-v1-customJobs-1-1", "delete-v1-customJobs-a-of-1-b-1", str(of), "x")
    assert [*map(StudyOperationId.parse, of_vertex)] == [None] * 4


TOP = "studyConfig.parameters"
REFUSED: list[tuple[Callable[[JsonObject], object], JsonObject, str, str]] = [
    (lambda body: read_study(body, ""), config(), "studyId", "required: 1 to 128 characters"),
    (lambda body: read_study(body, "12"), config(), "studyId", "not digits alone"),
    (lambda body: read_study(body, "a:b"), config(), "studyId", '"a:b" given; allowed: letters'),
    (named, {}, "studyConfig", "required"),
    (named, {"studySpec": {}, **config()}, "studySpec", "allowed: studyConfig"),
    (named, config(metrics=[{"metric": 1}]), "studyConfig.metrics[0].metric", "a string"),
    (named, config(parameters=[{**RATE, "type": None}]), f"{TOP}[0].type", "required: DOUBLE"),
    (
        named,
        config(parameters=[{**RATE, "type": "INTEGER"}]),
        f"{TOP}[0].integerValueSpec",
        "required: the type is INTEGER",
    ),
    (
        named,
        config(parameters=[{**RATE, "discreteValueSpec": {"values": [1]}}]),
        f"{TOP}[0]",
        "doubleValueSpec and discreteValueSpec given",
    ),
    (named, config(parameters=[RATE, RATE]), f"{TOP}[1].parameter", "given twice"),
    (named, config(parameters=[DEPTH]), f"{TOP}[0].parentCategoricalValues", "without a parent"),
    (
        named,
        config(
            parameters=[{**KIND, "childParameterSpecs": [{**DEPTH, "parentCategoricalValues": {}}]}]
        ),
        f"{TOP}[0].childParameterSpecs[0].parentCategoricalValues.values",
        "required",
    ),
    (
        named,
        config(
            automatedStoppingConfig={
                "decayCurveStoppingConfig": {},
                "medianAutomatedStoppingConfig": {},
            }
        ),
        "studyConfig.automatedStoppingConfig",
        "allowed: one rule",
    ),
    (
        named,
        config(metrics=[{"metric": "a"}, {"metric": "b"}]),
        "studyConfig.automatedStoppingConfig.decayCurveStoppingConfig",
        "given with 2 metrics",
    ),
    (read_measurement, measured(elapsedTime="-1s"), "measurement.elapsedTime", '"-1s" given'),
    (
        read_measurement,
        measured(elapsedTime={"seconds": -1}),
        "measurement.elapsedTime",
        "seconds as a string",
    ),
    (
        read_measurement,
        measured(metrics=[{"value": 1}]),
        "measurement.metrics[0].metric",
        "required",
    ),
    (
        read_measurement,
        measured(metrics=[{"metricId": "loss", "metric": "loss"}]),
        "measurement.metrics[0].metricId",
        "did you mean metric?",
    ),
    (read_trial, {"parameters": [{"parameter": "x"}]}, "parameters[0]", "required: a number"),
    (
        read_trial,
        {"parameters": [{"parameter": "x", "floatValue": 1, "intValue": 1}]},
        "parameters[0]",
        "several values given",
    ),
    (read_trial, {"parameters": [*POINT], "state": "STOPPING"}, "state", "STOPPING given; allowed"),
    (
        read_trial,
        {"parameters": [*POINT], "trialInfeasible": True},
        "trialInfeasible",
        "only with the state COMPLETED",
    ),
]


@pytest.mark.parametrize(("read", "body", "field", "said"), REFUSED)
def test_what_is_wrong_is_refused_by_its_field(
    read: Callable[[JsonObject], object], body: JsonObject, field: str, said: str
) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        read(body)
    told = {violation.field: violation.description for violation in refusal.value.violations}
    assert said in told.get(field, ""), told
    assert not any(theirs in told for theirs in ("displayName", "studySpec.metrics"))
