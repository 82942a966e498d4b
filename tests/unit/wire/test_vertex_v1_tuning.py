"""Tuning jobs of aiplatform v1: what they are refused for, and what next to it is fine."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument
from footplate.domain.jobs import Directory, PythonProgram
from footplate.domain.submission import Tuning
from footplate.wire.json_text import JsonObject
from tests.unit.wire.vertex_v1_bodies import (
    HERE,
    LAYERS,
    METRIC,
    PACKAGE,
    RATE,
    pool,
    search,
    study,
    tune,
    tuning,
)

if TYPE_CHECKING:
    from pydantic import JsonValue

FIRST = "studySpec.parameters[0]"
CHILD = f"{FIRST}.conditionalParameterSpecs[0]"
VIZIER = "allowed: only in studies of Vizier, not in tuning jobs"


def violations(document: JsonObject) -> dict[str, str]:
    found = tune(document).violations
    assert len({violation.field for violation in found}) == len(found)
    return {violation.field: violation.description for violation in found}


def parameter(name: str = "x", /, **more: JsonValue) -> JsonObject:
    return {"parameterId": name, **more}


def double(**more: JsonValue) -> JsonObject:
    return parameter(doubleValueSpec={"minValue": 0, "maxValue": 1, **more})


def discrete(*values: float, **more: JsonValue) -> JsonObject:
    return parameter(discreteValueSpec={"values": list(values)}, **more)


def categories(*values: str, name: str = "x", **more: JsonValue) -> JsonObject:
    return parameter(name, categoricalValueSpec={"values": list(values)}, **more)


def below(parent: JsonObject, *children: JsonObject) -> JsonObject:
    return {**parent, "conditionalParameterSpecs": list(children)}


def when(child: JsonObject, *values: str) -> JsonObject:
    return {"parameterSpec": child, "parentCategoricalValues": {"values": list(values)}}


def when_number(child: JsonObject, *values: float) -> JsonObject:
    return {"parameterSpec": child, "parentDiscreteValues": {"values": list(values)}}


def when_int(child: JsonObject, *values: JsonValue) -> JsonObject:
    return {"parameterSpec": child, "parentIntValues": {"values": list(values)}}


def stopping(**config: JsonValue) -> JsonObject:
    return search(RATE, studyStoppingConfig=config)


def metrics(*specs: JsonObject) -> JsonObject:
    return tuning(studySpec=study(metrics=list(specs)))


OTHER: JsonObject = {"metricId": "speed"}

REFUSED: list[tuple[JsonObject, str, str]] = [
    # the job
    (tuning(displayName=None), "displayName", "required: 1 to 128 characters"),
    (tuning(labels={"X": "y"}), "labels", 'key "X" given; allowed: .* lowercase'),
    (tuning(encryptionSpec={"kmsKeyName": "k"}), "encryptionSpec.kmsKeyName", '"k" given'),
    (tuning(maxTrialCount=None), "maxTrialCount", "required: at least 1"),
    (tuning(maxTrialCount=-5), "maxTrialCount", "-5 given; allowed: at least 1"),
    (tuning(parallelTrialCount=0), "parallelTrialCount", "0 given; allowed: at least 1"),
    (tuning(maxFailedTrialCount=-1), "maxFailedTrialCount", "-1 given; allowed: 0"),
    (tuning(maxFailedTrialCount=21), "maxFailedTrialCount", "21 given; allowed: at most 20"),
    (tuning(maxTrialCount="many"), "maxTrialCount", '"many" given; allowed: an integer'),
    (tuning(studySpec=None), "studySpec", "required"),
    # metrics
    (metrics(), "studySpec.metrics", "required"),
    (metrics({}), "studySpec.metrics[0].metricId", "required: a name without white space"),
    (metrics({"metricId": "a b"}), "studySpec.metrics[0].metricId", '"a b" given; allowed'),
    (metrics(METRIC, METRIC), "studySpec.metrics[1].metricId", '"loss" given twice'),
    (
        metrics({"metricId": "a", "goal": "SMALL"}),
        "studySpec.metrics[0].goal",
        '"SMALL" given; allowed: GOAL_TYPE_UNSPECIFIED, MAXIMIZE, MINIMIZE',
    ),
    (metrics({**METRIC, "safetyConfig": {}}), "studySpec.metrics", "at least one metric without"),
    (
        metrics(METRIC, {**OTHER, "safetyConfig": {"desiredMinSafeTrialsFraction": 1.5}}),
        "studySpec.metrics[1].safetyConfig.desiredMinSafeTrialsFraction",
        "1.5 given; allowed: 0 to 1",
    ),
    # parameters
    (search(), "studySpec.parameters", "required"),
    (search(*[LAYERS] * 1001), "studySpec.parameters", "1001 given; allowed: at most 1000"),
    (search({**RATE, "parameterId": ""}), f"{FIRST}.parameterId", "required"),
    (search({**RATE, "parameterId": "a b"}), f"{FIRST}.parameterId", "'a b' given; allowed"),
    (search(RATE, LAYERS, RATE), "studySpec.parameters[2].parameterId", '"lr" given twice'),
    (search(parameter()), FIRST, "none given; allowed: exactly one of doubleValueSpec, integer"),
    (
        search({**double(), **discrete(1, 2)}),
        FIRST,
        "doubleValueSpec and discreteValueSpec given; allowed: exactly one",
    ),
    (search(parameter(doubleValueSpec={})), f"{FIRST}.doubleValueSpec", "neither minValue nor"),
    (search(double(minValue=2)), f"{FIRST}.doubleValueSpec.maxValue", "1 given; .* at least 2"),
    (
        search(parameter(doubleValueSpec={"minValue": 0.5})),
        f"{FIRST}.doubleValueSpec.maxValue",
        "0 given; allowed: at least 0.5",
    ),
    (search(double(minValue="low")), f"{FIRST}.doubleValueSpec.minValue", '"low" given; .* finite'),
    (
        search(parameter(integerValueSpec={"minValue": "1", "maxValue": 2.5})),
        f"{FIRST}.integerValueSpec.maxValue",
        "2.5 given; allowed: an integer",
    ),
    (search(double(defaultValue=0)), f"{FIRST}.doubleValueSpec.defaultValue", f"0.* {VIZIER}"),
    (search(categories()), f"{FIRST}.categoricalValueSpec.values", "required"),
    (search(discrete()), f"{FIRST}.discreteValueSpec.values", "required"),
    (
        search(discrete(*range(1001))),
        f"{FIRST}.discreteValueSpec.values",
        "1001 given; allowed: at most 1000",
    ),
    (search(discrete(1, 3, 2)), f"{FIRST}.discreteValueSpec.values[2]", "2 given.* increasing"),
    (
        search(discrete(1, 1.00000000005)),
        f"{FIRST}.discreteValueSpec.values[1]",
        "allowed: at least 1e-10 more",
    ),
    # scales
    (
        search({**double(), "scaleType": "UNIT_LOG_SCALE"}),
        f"{FIRST}.doubleValueSpec.minValue",
        "0 given; allowed with UNIT_LOG_SCALE: more than 0",
    ),
    (
        search(parameter(integerValueSpec={"maxValue": 3}, scaleType=3)),
        f"{FIRST}.integerValueSpec.minValue",
        "0 given; allowed with UNIT_REVERSE_LOG_SCALE: more than 0",
    ),
    (
        search(discrete(-1, 1, scaleType=2)),
        f"{FIRST}.discreteValueSpec.values[0]",
        "-1 given; allowed with UNIT_LOG_SCALE: more than 0",
    ),
    (
        search(categories("a", scaleType="UNIT_LINEAR_SCALE")),
        f"{FIRST}.scaleType",
        "UNIT_LINEAR_SCALE given for a categorical parameter; allowed: only with numbers",
    ),
    (search({**RATE, "scaleType": "LOG"}), f"{FIRST}.scaleType", '"LOG" given; allowed: SCALE_'),
    # conditions
    (
        search(below(double(), when(LAYERS, "a"))),
        CHILD,
        "below a parameter with doubleValueSpec; allowed: only below integer, discrete and cat",
    ),
    (
        search(below(categories("a"), {"parameterSpec": LAYERS})),
        CHILD,
        "no condition given; allowed: parentCategoricalValues",
    ),
    (
        search(below(discrete(1), when(LAYERS, "1"))),
        CHILD,
        "parentCategoricalValues given; allowed: parentDiscreteValues",
    ),
    (
        search(below(discrete(1), {**when(LAYERS, "1"), **when_number(LAYERS, 1)})),
        CHILD,
        "parentDiscreteValues and parentCategoricalValues given; allowed: parentDiscreteValues",
    ),
    (
        search(below(categories("a"), {"parentCategoricalValues": {"values": ["a"]}})),
        f"{CHILD}.parameterSpec",
        "required",
    ),
    (
        search(below(categories("a"), when(LAYERS))),
        f"{CHILD}.parentCategoricalValues.values",
        "required: at least one value of the parent",
    ),
    (
        search(below(categories("a", "b"), when(LAYERS, "a", "c"))),
        f"{CHILD}.parentCategoricalValues.values[1]",
        '"c" given; allowed: the values of the parent parameter, \\["a", "b"\\]',
    ),
    (
        search(below(discrete(1, 2), when_number(LAYERS, 1.001))),
        f"{CHILD}.parentDiscreteValues.values[0]",
        "1.001 given; allowed: the values of the parent parameter",
    ),
    (
        search(below(LAYERS, when_int(RATE, "5", 6))),
        f"{CHILD}.parentIntValues.values[1]",
        "6 given; allowed: 1 to 5, the bounds of the parent parameter",
    ),
    (
        search(below(LAYERS, when_int(double(minValue=3), 1))),
        f"{CHILD}.parameterSpec.doubleValueSpec.maxValue",
        "1 given; allowed: at least 3",
    ),
    (
        search(below(categories("a", "b"), when(LAYERS, "a", "b"), when(LAYERS, "b"))),
        f"{FIRST}.conditionalParameterSpecs[1].parameterSpec.parameterId",
        '"layers" given twice; allowed: .* several for different values of one parent',
    ),
    (
        search(below(categories("a"), when(categories("c"), "a"))),
        f"{CHILD}.parameterSpec.parameterId",
        '"x" given twice',
    ),
    (
        search(LAYERS, below(categories("a"), when(LAYERS, "a"))),
        "studySpec.parameters[1].conditionalParameterSpecs[0].parameterSpec.parameterId",
        '"layers" given twice',
    ),
    (
        search(below(discrete(1, 2), when_number(RATE, 1), when_number(RATE, 1 + 1e-11))),
        f"{FIRST}.conditionalParameterSpecs[1].parameterSpec.parameterId",
        '"lr" given twice',
    ),
    # the search
    (
        search(RATE, algorithm="GRID_SEARCH"),
        f"{FIRST}.doubleValueSpec",
        "given with GRID_SEARCH; allowed: integer, categorical and discrete",
    ),
    (
        search(below(LAYERS, when_int(RATE, 1)), algorithm=2),
        f"{CHILD}.parameterSpec.doubleValueSpec",
        "given with GRID_SEARCH",
    ),
    (
        search(RATE, algorithm=1),
        "studySpec.algorithm",
        "1 given; allowed: ALGORITHM_UNSPECIFIED, GRID_SEARCH, RANDOM_SEARCH",
    ),
    (search(RATE, observationNoise="LOW"), "studySpec.observationNoise", f"LOW given; {VIZIER}"),
    (search(RATE, measurementSelectionType=7), "studySpec.measurementSelectionType", "7 given"),
    # stopping
    (
        search(RATE, decayCurveStoppingSpec={}, medianAutomatedStoppingSpec={}),
        "studySpec",
        "decayCurveStoppingSpec and medianAutomatedStoppingSpec given; allowed: one of",
    ),
    (
        tuning(studySpec=study(metrics=[METRIC, OTHER], medianAutomatedStoppingSpec={})),
        "studySpec.medianAutomatedStoppingSpec",
        "given with 2 metrics to optimise; allowed: only with one",
    ),
    (
        search(RATE, convexAutomatedStoppingSpec={"maxStepCount": "-1"}),
        "studySpec.convexAutomatedStoppingSpec.maxStepCount",
        "-1 given; allowed: 0 or more",
    ),
    (
        search(RATE, convexAutomatedStoppingSpec={"maxStepCount": 10, "minStepCount": 11}),
        "studySpec.convexAutomatedStoppingSpec.minStepCount",
        "11 given; allowed: at most maxStepCount, which is 10",
    ),
    (
        search(RATE, convexAutomatedStoppingSpec={"learningRateParameterName": "rate"}),
        "studySpec.convexAutomatedStoppingSpec.learningRateParameterName",
        '"rate" given; allowed: one of the parameters \\["lr"\\]',
    ),
    (
        stopping(minNumTrials=-1),
        "studySpec.studyStoppingConfig.minNumTrials",
        "-1 given; allowed: 0 or more",
    ),
    (
        stopping(minNumTrials=5, maxNumTrials=4),
        "studySpec.studyStoppingConfig.minNumTrials",
        "5 given; allowed: at most maxNumTrials, which is 4",
    ),
    (
        stopping(maximumRuntimeConstraint={}),
        "studySpec.studyStoppingConfig.maximumRuntimeConstraint",
        "neither given; allowed: one of maxDuration, endTime",
    ),
    (
        stopping(minimumRuntimeConstraint={"maxDuration": "1s", "endTime": "2026-01-01T00:00:00Z"}),
        "studySpec.studyStoppingConfig.minimumRuntimeConstraint",
        "both given; allowed: one of maxDuration, endTime",
    ),
    (
        stopping(maximumRuntimeConstraint={"maxDuration": "0s"}),
        "studySpec.studyStoppingConfig.maximumRuntimeConstraint.maxDuration",
        "0s given; allowed: more than 0s",
    ),
    (
        stopping(maximumRuntimeConstraint={"endTime": "2026-01-01T00:00:00"}),
        "studySpec.studyStoppingConfig.maximumRuntimeConstraint.endTime",
        '"2026-01-01T00:00:00" given; allowed: a time with its zone',
    ),
    (
        stopping(maximumRuntimeConstraint={"endTime": "2026-02-30T00:00:00Z"}),
        "studySpec.studyStoppingConfig.maximumRuntimeConstraint.endTime",
        "given; allowed: a time with its zone",
    ),
    (
        stopping(
            minimumRuntimeConstraint={"maxDuration": "20s"},
            maximumRuntimeConstraint={"maxDuration": "10s"},
        ),
        "studySpec.studyStoppingConfig.minimumRuntimeConstraint.maxDuration",
        "20s given; allowed: at most the maxDuration of maximumRuntimeConstraint, which is 10s",
    ),
    (
        stopping(maxDurationNoProgress="0s"),
        "studySpec.studyStoppingConfig.maxDurationNoProgress",
        "0s given; allowed: more than 0s",
    ),
    (
        tuning(
            studySpec=study(
                metrics=[METRIC, OTHER], studyStoppingConfig={"maxNumTrialsNoProgress": 3}
            )
        ),
        "studySpec.studyStoppingConfig.maxNumTrialsNoProgress",
        "given with 2 metrics to optimise",
    ),
    (
        tuning(
            studySpec=study(
                metrics=[METRIC, OTHER], studyStoppingConfig={"maxDurationNoProgress": "3s"}
            )
        ),
        "studySpec.studyStoppingConfig.maxDurationNoProgress",
        "given with 2 metrics to optimise",
    ),
    # each trial
    (
        tuning(trialJobSpec={"workerPoolSpecs": [pool(replicaCount=2)]}),
        "trialJobSpec.workerPoolSpecs[0].replicaCount",
        "2 given; .* exactly 1",
    ),
    (
        tuning(trialJobSpec={"workerPoolSpecs": [pool()], "network": "default"}),
        "trialJobSpec.network",
        '"default" given',
    ),
]


@pytest.mark.parametrize(("document", "field", "said"), REFUSED)
def test_a_rule_names_the_field_the_value_and_what_is_allowed(
    document: JsonObject, field: str, said: str
) -> None:
    found = violations(document)
    assert list(found) == [field]
    assert re.search(said, found[field]), found[field]


ACCEPTED: list[JsonObject] = [
    tuning(maxFailedTrialCount=20, parallelTrialCount="2", maxTrialCount=20.0),
    metrics({"metricId": "m"}),
    metrics({"metricId": "m", "goal": 1}, {**OTHER, "safetyConfig": {"safetyThreshold": 1}}),
    search(double(minValue=1)),
    search(parameter(doubleValueSpec={"maxValue": 1})),
    search(parameter(doubleValueSpec={"minValue": -1})),
    search(parameter(integerValueSpec={"minValue": "-9", "maxValue": 9.0}, scaleType=1)),
    search(discrete(*range(1000))),
    search(discrete(0, 1e-10)),
    search(categories("", "a", scaleType="SCALE_TYPE_UNSPECIFIED")),
    search(discrete(1), LAYERS, categories("a", name="c"), algorithm=2),
    search(below(LAYERS, when_int(RATE, "1", 5))),
    search(below(discrete(1, 2), when_number(RATE, 1 + 1e-11), when_number(RATE, 2))),
    search(below(categories("a", "b"), when(LAYERS, "a"), when(LAYERS, "b"))),
    search(
        below(
            categories("a", "b"),
            when(below(categories("c", name="y"), when(RATE, "c")), "a"),
            when(RATE, "b"),
        )
    ),
    search(RATE, decayCurveStoppingSpec={"useElapsedDuration": True}),
    search(
        RATE,
        convexAutomatedStoppingSpec={
            "maxStepCount": "100",
            "minStepCount": 10,
            "learningRateParameterName": "lr",
        },
    ),
    tuning(
        studySpec=study(
            metrics=[METRIC, {**OTHER, "safetyConfig": {}}], medianAutomatedStoppingSpec={}
        )
    ),
    stopping(
        shouldStopAsap=True,
        minimumRuntimeConstraint={"maxDuration": "10s"},
        maximumRuntimeConstraint={"endTime": "2099-01-01T00:00:00.5+02:00"},
        minNumTrials=4,
        maxNumTrials=4,
        maxNumTrialsNoProgress=2,
        maxDurationNoProgress="60s",
    ),
]


@pytest.mark.parametrize("document", ACCEPTED)
def test_what_is_allowed_next_to_it(document: JsonObject) -> None:
    assert violations(document) == {}


def test_everything_is_said_at_once() -> None:
    found = violations(
        {
            "maxTrialCount": "x",
            "studySpec": {
                "metrics": [{"goal": 9}],
                "parameters": [parameter("a b", doubleValueSpec={"minValue": 3, "maxValue": 1}), 5],
                "observationNoise": 1,
            },
            "trialJobSpec": {"workerPoolSpecs": [{"machineSpec": {"machineType": "standard"}}]},
        }
    )
    assert set(found) == {
        "maxTrialCount",
        "displayName",
        "parallelTrialCount",
        "studySpec.metrics[0].goal",
        "studySpec.metrics[0].metricId",
        "studySpec.observationNoise",
        f"{FIRST}.parameterId",
        f"{FIRST}.doubleValueSpec.maxValue",
        "studySpec.parameters[1]",
        "trialJobSpec.workerPoolSpecs[0]",
        "trialJobSpec.workerPoolSpecs[0].machineSpec.machineType",
    }


def bounded(**bounds: JsonValue) -> JsonObject:
    return search(parameter(doubleValueSpec=bounds))


@pytest.mark.parametrize(
    ("document", "fields"),
    [
        (search(parameter(scaleType="?")), [f"{FIRST}.scaleType", FIRST]),
        (
            bounded(defaultValue="x"),
            [f"{FIRST}.doubleValueSpec.defaultValue", f"{FIRST}.doubleValueSpec"],
        ),
        (
            stopping(minNumTrials="x", minimumRuntimeConstraint={}),
            [
                "studySpec.studyStoppingConfig.minNumTrials",
                "studySpec.studyStoppingConfig.minimumRuntimeConstraint",
            ],
        ),
        (
            search(RATE, algorithm=9, decayCurveStoppingSpec={}, medianAutomatedStoppingSpec={}),
            ["studySpec.algorithm", "studySpec"],
        ),
    ],
)
def test_what_is_wrong_with_a_field_hides_nothing_above_it(
    document: JsonObject, fields: list[str]
) -> None:
    assert list(violations(document)) == fields


@pytest.mark.parametrize(
    ("document", "field"),
    [
        (tuning(maxTrialCount="x", maxFailedTrialCount=2), "maxTrialCount"),
        (tuning(maxTrialCount=None, maxFailedTrialCount=2), "maxTrialCount"),
        (bounded(minValue="x", maxValue=-5), f"{FIRST}.doubleValueSpec.minValue"),
        (search(parameter(doubleValueSpec="x")), f"{FIRST}.doubleValueSpec"),
        (search(discrete("x", -5)), f"{FIRST}.discreteValueSpec.values[0]"),  # type: ignore[arg-type]  # wrong on purpose
        (
            stopping(minimumRuntimeConstraint={"maxDuration": 5}),
            "studySpec.studyStoppingConfig.minimumRuntimeConstraint.maxDuration",
        ),
        (
            search(below(LAYERS, {"parameterSpec": RATE, "parentIntValues": 5})),
            f"{FIRST}.conditionalParameterSpecs[0].parentIntValues",
        ),
        (
            search(
                below(
                    parameter(categoricalValueSpec={"values": ["a", 5]}),
                    {"parameterSpec": RATE, "parentCategoricalValues": {"values": ["5"]}},
                )
            ),
            f"{FIRST}.categoricalValueSpec.values[1]",
        ),
    ],
)
def test_what_is_wrong_with_a_field_is_no_mistake_of_another(
    document: JsonObject, field: str
) -> None:
    assert list(violations(document)) == [field]


@pytest.mark.parametrize("spec", [None, {}, {"workerPoolSpecs": []}, 3])
def test_without_a_pool_there_is_nothing_to_make_a_job_of(spec: JsonValue) -> None:
    with pytest.raises(InvalidArgument, match=r"trialJobSpec.*: "):
        tune(tuning(trialJobSpec=spec))


def test_each_trial_runs_the_trial_job() -> None:
    document = tuning(
        labels={"team": "a"},
        newField=1,
        trialJobSpec={
            "worker_pool_specs": [pool(), {}, pool(replicaCount=2)],
            "baseOutputDirectory": {"outputUriPrefix": "gs://b/out"},
        },
    )
    submission = tune(document)
    assert (submission.name, submission.display_name) == (HERE, "a search")
    assert submission.labels == (("team", "a"),)
    assert submission.tuning == Tuning(parameters=2, max_trials=20)
    spec = submission.spec
    assert spec.replica_names() == ("workerpool0-0", "workerpool2-0", "workerpool2-1")
    assert spec.primary.field == "trialJobSpec.workerPoolSpecs[0].pythonPackageSpec"
    assert spec.primary.program == PythonProgram(
        f"image:{PACKAGE['executorImageUri']}",
        ("gs://b/trainer-0.1.tar.gz",),
        "trainer.task",
        ("--x", "1"),
    )
    field = "trialJobSpec.baseOutputDirectory.outputUriPrefix"
    assert spec.directories[0] == Directory("AIP_MODEL_DIR", "gs://b/out/model/", field, "model/")
    kept = json.loads(submission.request)
    assert kept["studySpec"]["parameters"][1]["integerValueSpec"] == {
        "minValue": "1",
        "maxValue": "5",
    }
    assert kept["newField"] == 1
    assert "labels" not in kept
    assert [warning.partition(" ")[0] for warning in submission.warnings] == ["newField"]


def test_conditional_parameters_count_once_each() -> None:
    parent = below(categories("a", "b"), when(LAYERS, "a"), when(LAYERS, "b"), when(RATE, "b"))
    assert tune(search(parent)).tuning == Tuning(parameters=3, max_trials=20)


@pytest.mark.parametrize(
    ("document", "said"),
    [
        (
            tuning(maxTrialCount=3, parallelTrialCount=5),
            "parallelTrialCount is 5, but maxTrialCount is 3: 3 trials run at once",
        ),
        (search(categories("a", "b", "a")), f"{FIRST}.categoricalValueSpec contains a value twice"),
        (search(double(minValue=1)), f"{FIRST}: minValue and maxValue are equal"),
        (
            search(below(LAYERS, when_int(parameter(integerValueSpec={"minValue": 0}), 1))),
            f"{CHILD}.parameterSpec: minValue and maxValue are equal",
        ),
    ],
)
def test_what_may_not_be_meant_so_is_warned_of(document: JsonObject, said: str) -> None:
    submission = tune(document)
    assert submission.violations == ()
    assert [warning[: len(said)] for warning in submission.warnings] == [said]


names = st.sampled_from(["a", "b", "c"])
values = st.sets(st.integers(0, 3), min_size=1)
trees: st.SearchStrategy[JsonObject] = st.recursive(
    names.map(lambda name: parameter(name, integerValueSpec={"minValue": 0, "maxValue": 3})),
    lambda inner: st.builds(
        lambda parent, children: below(parent, *(when_int(c, *sorted(v)) for c, v in children)),
        names.map(lambda name: parameter(name, integerValueSpec={"minValue": 0, "maxValue": 3})),
        st.lists(st.tuples(inner, values), max_size=3),
    ),
    max_leaves=6,
)


def names_of_a_trial(tree: Any, choose: Callable[[], int]) -> list[str]:
    """The parameters that a trial has, where each takes a value as ``choose`` says."""
    value, found = choose(), [tree["parameterId"]]
    for child in tree.get("conditionalParameterSpecs", ()):
        if value in child["parentIntValues"]["values"]:
            found += names_of_a_trial(child["parameterSpec"], choose)
    return found


@given(st.lists(trees, min_size=1, max_size=2), st.data())
def test_no_trial_of_an_accepted_search_has_two_parameters_of_a_name(
    roots: list[JsonObject], data: st.DataObject
) -> None:
    if violations(search(*roots)):
        return
    found = [
        n for root in roots for n in names_of_a_trial(root, lambda: data.draw(st.integers(0, 3)))
    ]
    assert len(set(found)) == len(found)
