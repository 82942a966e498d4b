"""What clients tell Vizier: what they are refused for, and what next to it is fine."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument
from footplate.domain.names import StudyName, StudyOperationName, TrialName
from footplate.domain.studies.records import StudyState
from footplate.domain.studies.study import Noise
from footplate.domain.studies.trials import TrialState
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.vizier_operations import (
    CheckId,
    SuggestionId,
    check_json,
    suggestion_json,
)
from footplate.wire.vertex_v1.vizier_requests import (
    metric_ids,
    read_lookup,
    read_measurement,
    read_outcome,
    read_study,
    read_suggest,
    read_trial,
)
from tests.unit.wire.vertex_v1_bodies import LAYERS, METRIC, RATE
from tests.unit.wire.vertex_v1_bodies import study as spec

AT = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
STUDY = StudyName("demo", "us-central1", "7")
READING: JsonObject = {"metricId": "loss", "value": 0.5}
MEASURED: JsonObject = {"stepCount": "3", "elapsedDuration": "1.5s", "metrics": [READING]}
POINT: JsonObject = {"parameterId": "lr", "value": 0.01}
OPTIMIZER: JsonObject = {"parameterId": "opt", "categoricalValueSpec": {"values": ["a", "b"]}}
BATCH: JsonObject = {"parameterId": "batch", "discreteValueSpec": {"values": [8, 16]}}


def study(**changes: Any) -> JsonObject:
    return {"displayName": "a study", "studySpec": spec(**changes)}


def starting(parameter: JsonObject, kind: str, value: Any) -> JsonObject:
    """A study whose one parameter starts at the value."""
    values: Any = parameter[kind]
    return study(parameters=[{**parameter, kind: {**values, "defaultValue": value}}])


def measurement(**changes: Any) -> JsonObject:
    return {"measurement": {**MEASURED, **changes}}


def trial(**changes: Any) -> JsonObject:
    return {"parameters": [POINT], **changes}


LONG = "x" * 129
REFUSED: list[tuple[Callable[[JsonObject], object], JsonObject, str, str]] = [
    (read_study, {"studySpec": spec()}, "displayName", "required: 1 to 128 characters"),
    (read_study, {**study(), "displayName": LONG}, "displayName", "129 characters given"),
    (read_study, {"displayName": "a"}, "studySpec", "required"),
    (read_study, study(metrics=[]), "studySpec.metrics", "required"),
    (read_study, study(parameters=[]), "studySpec.parameters", "required"),
    (
        read_study,
        starting(RATE, "doubleValueSpec", 0.2),
        "studySpec.parameters[0].doubleValueSpec.defaultValue",
        "0.2 given; allowed: 0.001 to 0.1",
    ),
    (
        read_study,
        starting(LAYERS, "integerValueSpec", 6),
        "studySpec.parameters[0].integerValueSpec.defaultValue",
        "6 given; allowed: 1 to 5",
    ),
    (
        read_study,
        starting(OPTIMIZER, "categoricalValueSpec", "c"),
        "studySpec.parameters[0].categoricalValueSpec.defaultValue",
        'one of ["a", "b"]',
    ),
    (
        read_study,
        starting(BATCH, "discreteValueSpec", 9),
        "studySpec.parameters[0].discreteValueSpec.defaultValue",
        "one of [8.0, 16.0]",
    ),
    (read_lookup, {}, "displayName", "required"),
    (read_suggest, {"clientId": "a"}, "suggestionCount", "0 given; allowed: 1 to 1000"),
    (read_suggest, {"suggestionCount": -1, "clientId": "a"}, "suggestionCount", "-1 given"),
    (read_suggest, {"suggestionCount": 1001, "clientId": "a"}, "suggestionCount", "1001 given"),
    (read_suggest, {"suggestionCount": 1, "clientId": "x" * 257}, "clientId", "257 characters"),
    (read_measurement, {}, "measurement", "required"),
    (read_measurement, measurement(metrics=[]), "measurement.metrics", "required"),
    (read_measurement, measurement(stepCount=-1), "measurement.stepCount", "-1 given"),
    (read_measurement, measurement(stepCount=1.5), "measurement.stepCount", "1.5 given"),
    (
        read_measurement,
        measurement(elapsedDuration="-1s"),
        "measurement.elapsedDuration",
        '"-1s" given',
    ),
    (read_measurement, measurement(elapsedDuration=3), "measurement.elapsedDuration", "3 given"),
    (
        read_measurement,
        measurement(metrics=[{"value": 1}]),
        "measurement.metrics[0].metricId",
        "required",
    ),
    (
        read_measurement,
        measurement(metrics=[READING, READING]),
        "measurement.metrics[1].metricId",
        "given twice",
    ),
    (
        read_measurement,
        measurement(metrics=[{**READING, "value": "nan"}]),
        "measurement.metrics[0].value",
        '"nan" given; allowed: a finite number',
    ),
    (
        read_outcome,
        {"finalMeasurement": {"stepCount": 1}},
        "finalMeasurement.metrics",
        "required",
    ),
    (read_outcome, {"infeasibleReason": "broke"}, "infeasibleReason", "with trialInfeasible"),
    (
        read_outcome,
        {"trialInfeasible": True, "infeasibleReason": "x" * 10_001},
        "infeasibleReason",
        "10001 characters",
    ),
    (read_trial, {}, "parameters", "required"),
    (read_trial, trial(parameters=[{"value": 1}]), "parameters[0].parameterId", "required"),
    (read_trial, trial(parameters=[POINT, POINT]), "parameters[1].parameterId", "given twice"),
    (read_trial, trial(parameters=[{"parameterId": "x"}]), "parameters[0].value", "required"),
    (
        read_trial,
        trial(parameters=[{"parameterId": "x", "value": True}]),
        "parameters[0].value",
        "true given; allowed: a number, or a string",
    ),
    (
        read_trial,
        trial(parameters=[{"parameterId": "x", "value": 10**400}]),
        "parameters[0].value",
        "allowed: a number, or a string",
    ),
    (read_trial, trial(parameters=[POINT] * 1001), "parameters", "1001 given"),
    (read_trial, trial(state="STOPPING"), "state", "STOPPING given; allowed: REQUESTED"),
    (
        read_trial,
        trial(state="ACTIVE", finalMeasurement=MEASURED),
        "finalMeasurement",
        "given with the state ACTIVE; allowed only with the state SUCCEEDED",
    ),
    (
        read_trial,
        trial(measurements=[MEASURED, {}]),
        "measurements[1].metrics",
        "required",
    ),
    (read_trial, trial(clientId="x" * 257), "clientId", "257 characters"),
    (read_trial, trial(measurements=[MEASURED] * 10_001), "measurements", "10001 given"),
]


@pytest.mark.parametrize(("read", "body", "field", "said"), REFUSED)
def test_what_is_wrong_is_refused_by_its_field(
    read: Callable[[JsonObject], object], body: JsonObject, field: str, said: str
) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        read(body)
    told = {violation.field: violation.description for violation in refusal.value.violations}
    assert list(told) == [field]
    assert said in told[field]


def test_a_study_has_what_tuning_jobs_can_not_have() -> None:
    parameters = [
        {**RATE, "doubleValueSpec": {"minValue": 0.001, "maxValue": 0.1, "defaultValue": 0.05}},
        {**LAYERS, "integerValueSpec": {"minValue": "1", "maxValue": "5", "defaultValue": "2"}},
    ]
    request = read_study(study(parameters=parameters, observationNoise=2))
    assert request.config.noise is Noise.HIGH
    assert [p.default for p in request.config.space.parameters] == [0.05, 2]
    assert json.loads(request.request)["observationNoise"] == "HIGH"


def test_the_metrics_of_a_study_are_those_that_nothing_is_optimised_for_too() -> None:
    safe = {"metricId": "heat", "goal": "MINIMIZE", "safetyConfig": {"safetyThreshold": 80}}
    request = read_study(study(metrics=[METRIC, safe]))
    assert [metric.name for metric in request.config.metrics] == ["loss"]
    assert metric_ids(request.request) == {"loss", "heat"}


def test_a_measurement_may_be_no_number() -> None:
    metrics = [
        {"metricId": "a", "value": "NaN"},
        {"metricId": "b", "value": "-Infinity"},
        {"metricId": "c"},
    ]
    found = read_measurement(measurement(metrics=metrics))
    assert math.isnan(found.values["a"])
    assert found.values["b"] == -math.inf
    assert found.values["c"] == 0.0
    assert (found.step, found.elapsed_s) == (3, 1.5)


def test_an_infeasible_trial_has_no_final_measurement() -> None:
    body: JsonObject = {"trialInfeasible": True, "infeasibleReason": "out of memory"}
    outcome = read_outcome({**body, "finalMeasurement": {"stepCount": 1}})
    assert outcome.infeasible
    assert outcome.reason == "out of memory"
    assert outcome.final is None
    assert read_outcome({}).final is None


def test_a_trial_of_a_users_own_is_to_be_tried_unless_it_says_otherwise() -> None:
    assert read_trial(trial()).state is TrialState.REQUESTED
    assert read_trial(trial(state=0)).state is TrialState.REQUESTED
    assert read_trial(trial(state=2)).state is TrialState.ACTIVE
    done = read_trial(trial(finalMeasurement=MEASURED, name="x", id="9"))
    assert done.state is TrialState.SUCCEEDED
    assert done.final is not None
    assert done.final.values == {"loss": 0.5}
    assert done.point == {"lr": 0.01}


@given(
    numbers=st.sets(st.integers(1, 10**9 - 1) | st.integers(1, 30)),
    state=st.sampled_from(StudyState),
    version=st.sampled_from(["v1", "v1beta1"]),
)
def test_the_id_of_a_suggestion_says_what_was_answered(
    numbers: set[int], state: StudyState, version: str
) -> None:
    made = SuggestionId.of(version, AT, state, numbers)
    assert SuggestionId.parse(str(made)) == made
    assert all(made.has(number) for number in numbers)
    near = {n + d for n in numbers for d in (-1, 1)} - numbers
    assert not any(made.has(number) for number in near)


def test_successive_numbers_are_told_in_short() -> None:
    made = SuggestionId.of("v1", AT, StudyState.ACTIVE, range(1, 1001))
    assert str(made).endswith("-ACTIVE-1-1000")
    assert str(SuggestionId.of("v1", AT, StudyState.INACTIVE, [])).endswith("-INACTIVE-none")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "suggest",
        "suggest-v2-1-ACTIVE-1",
        "suggest-v1-1-ACTIVE-",
        "suggest-v1-1-ACTIVE-0",
        "suggest-v1-1-ACTIVE-1-2-3",
        "suggest-v1-1-ASLEEP-1",
        f"suggest-v1-1-ACTIVE-{'9' * 10}",
        "check-v1-1-maybe",
        "check-v1-1-stop\n",
    ],
)
def test_other_texts_are_no_ids(text: str) -> None:
    assert SuggestionId.parse(text) is None
    assert CheckId.parse(text) is None


@pytest.mark.parametrize("should_stop", [True, False])
def test_the_id_of_a_check_says_what_was_answered(should_stop: bool) -> None:  # noqa: FBT001
    made = CheckId("v1beta1", AT, should_stop)
    assert CheckId.parse(str(made)) == made


def test_operations_have_the_types_that_clients_know() -> None:
    trial = TrialName(STUDY, 3)
    check = CheckId("v1", AT, should_stop=True)
    name = StudyOperationName(trial, str(check))
    time = "2026-01-02T03:04:05.678901Z"
    prefix = "type.googleapis.com/google.cloud.aiplatform.v1"
    assert check_json(name, check, trial) == {
        "name": f"{STUDY}/trials/3/operations/{check}",
        "done": True,
        "metadata": {
            "@type": f"{prefix}.CheckTrialEarlyStoppingStateMetatdata",
            "genericMetadata": {"createTime": time, "updateTime": time},
            "study": str(STUDY),
            "trial": f"{STUDY}/trials/3",
        },
        "response": {
            "@type": f"{prefix}.CheckTrialEarlyStoppingStateResponse",
            "shouldStop": True,
        },
    }
    made = SuggestionId.of("v1", AT, StudyState.INACTIVE, [])
    assert suggestion_json(StudyOperationName(STUDY, str(made)), made, "", [])["response"] == {
        "@type": f"{prefix}.SuggestTrialsResponse",
        "studyState": "INACTIVE",
        "startTime": time,
        "endTime": time,
    }


def test_a_worker_without_a_name_is_one() -> None:
    """As Google's SDK asks by default (``worker=""``)."""
    assert read_suggest({"suggestionCount": 1, "clientId": ""}).client_id == ""
    assert read_suggest({"suggestionCount": 1}).client_id == ""


def test_names_that_reach_no_program_may_begin_with_a_dash() -> None:
    made = read_study(study(parameters=[{**RATE, "parameterId": "-rate"}]))
    assert "-rate" in made.request
