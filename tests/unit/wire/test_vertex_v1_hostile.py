"""Whatever JSON comes in, what comes out is a submission, or says that it isn't one."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument
from footplate.domain.submission import Location, Submission
from footplate.wire.json_text import JsonObject
from tests.unit.wire.vertex_v1_bodies import (
    HERE,
    LAYERS,
    METRIC,
    RATE,
    REDUCER,
    body,
    container,
    machine,
    pool,
    search,
    study,
    submit,
    tune,
    tuning,
)

if TYPE_CHECKING:
    from pydantic import JsonValue

CUSTOM = body(
    machine(
        machineType="a2-highgpu-1g",
        acceleratorType=8,
        acceleratorCount=1,
        gpuPartitionSize="1g.5gb",
        reservationAffinity={"reservationAffinityType": 3, "key": "k", "values": ["v"]},
    ),
    pool(
        diskSpec={"bootDiskSizeGb": 50},
        nfsMounts=[{"server": "s", "path": "/p", "mountPoint": "m"}],
        lustreMounts=[{"instanceIp": "::1", "mountPoint": "m"}],
    ),
    container(imageUri=REDUCER, env=[{"name": "A"}]),
    scheduling={"timeout": "60s", "strategy": 6, "maxWaitDuration": "5s"},
    baseOutputDirectory={"outputUriPrefix": "gs://b/out"},
    network="projects/p/global/networks/n",
    reservedIpRanges=["r"],
)
CONDITIONAL: JsonObject = {
    **LAYERS,
    "parameterId": "parent",
    "conditionalParameterSpecs": [
        {"parameterSpec": LAYERS, "parentIntValues": {"values": ["1", 2]}},
        {"parameterSpec": RATE, "parentDiscreteValues": {"values": [1]}},
    ],
}
DISCRETE: JsonObject = {"parameterId": "d", "discreteValueSpec": {"values": [1, 2]}}
SEARCH = search(
    RATE,
    CONDITIONAL,
    {**DISCRETE, "scaleType": 2},
    {"parameterId": "c", "categoricalValueSpec": {"values": ["a"], "defaultValue": "a"}},
    metrics=[METRIC, {"metricId": "safe", "safetyConfig": {"safetyThreshold": 1}}],
    convexAutomatedStoppingSpec={"maxStepCount": 1, "learningRateParameterName": "lr"},
    studyStoppingConfig={
        "minNumTrials": 1,
        "maximumRuntimeConstraint": {"endTime": "2026-01-01T00:00:00Z"},
        "minimumRuntimeConstraint": {"maxDuration": "1s"},
    },
)

SCALARS: st.SearchStrategy[JsonValue] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.sampled_from(["", "gs://", "gs://b/x", "/../x", "1s", "-1s", "300000000000s", "x" * 300])
    | st.text(max_size=5)
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


def places(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """The path of every value in a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, item in items:
        yield (*path, key)
        if isinstance(item, dict | list):
            yield from places(item, (*path, key))


def put(document: Any, path: tuple[str | int, ...], value: JsonValue) -> None:
    """Where the document still goes that far."""
    *above, last = path
    for part in above:
        if not has(document, part):
            return
        document = document[part]
    if has(document, last):
        document[last] = value


def has(value: Any, part: str | int) -> bool:
    if isinstance(value, dict):
        return part in value
    return isinstance(value, list) and isinstance(part, int) and part < len(value)


@st.composite
def damaged(draw: st.DrawFn, document: JsonObject) -> JsonObject:
    """A good request of which a few values have been replaced by whatever."""
    made = copy.deepcopy(document)
    spots = st.sampled_from(list(places(document)))
    for path in draw(st.lists(spots, max_size=4)):
        put(made, path, draw(VALUES))
    return made


def read(reader: Callable[[JsonObject], Submission], document: JsonObject) -> None:
    before = copy.deepcopy(document)
    with suppress(InvalidArgument):
        submission = reader(document)
        assert isinstance(json.loads(submission.request), dict)
        assert submission.spec.replica_names()
        fields = [violation.field for violation in submission.violations]
        assert len(set(fields)) == len(fields)
    assert document == before


@given(damaged(CUSTOM))
def test_custom_jobs(document: JsonObject) -> None:
    read(submit, document)


@given(damaged(SEARCH))
def test_tuning_jobs(document: JsonObject) -> None:
    read(tune, document)


@given(st.dictionaries(st.sampled_from(["displayName", "jobSpec", "studySpec", "x"]), VALUES))
def test_anything(document: JsonObject) -> None:
    read(submit, document)
    read(tune, document)


@given(st.text(max_size=10))
def test_any_location(name: str) -> None:
    read(lambda document: submit(document, Location("demo", name)), body())


@pytest.mark.parametrize(
    "document",
    [
        body(*[pool()] * 5_000),
        body(pool(nfsMounts=[{"mountPoint": "m"}] * 5_000)),
        body(container(env=[{"name": "A"}] * 20_000)),
        body(container(env=[{"name": f"A{number // 2}"} for number in range(20_000)])),
        tuning(studySpec=study(parameters=[LAYERS] * 5_000)),
        search({"parameterId": "d", "discreteValueSpec": {"values": [1.0] * 20_000}}),
        search({**CONDITIONAL, "conditionalParameterSpecs": [{}] * 5_000}),
        search(
            {
                **DISCRETE,
                "conditionalParameterSpecs": [
                    {"parameterSpec": RATE, "parentDiscreteValues": {"values": [0.5] * 1000}}
                ]
                * 200,
            }
        ),
        search(
            {
                "parameterId": "c",
                "categoricalValueSpec": {"values": [str(number) for number in range(30_000)]},
                "conditionalParameterSpecs": [
                    {"parameterSpec": RATE, "parentCategoricalValues": {"values": ["x"] * 1000}}
                ]
                * 200,
            }
        ),
    ],
    ids=[
        "pools",
        "shares",
        "variables",
        "variables given twice",
        "parameters",
        "values",
        "children",
        "conditions",
        "categories",
    ],
)
def test_much_of_something_is_told_in_short(document: JsonObject) -> None:
    reader = tune if "studySpec" in document else submit
    submission = reader(document)
    assert len(submission.violations) <= 51
    assert len(submission.warnings) <= 50
    assert submission.name == HERE
