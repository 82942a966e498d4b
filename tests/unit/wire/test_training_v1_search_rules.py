"""What ml v1 refuses of hyperparameters, and what next to it passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from footplate.wire.json_text import JsonObject
from tests.unit.wire.training_v1_inputs import param, refused, search

if TYPE_CHECKING:
    from pydantic import JsonValue


def categories(name: str, count: int) -> JsonObject:
    values: list[JsonValue] = [str(number) for number in range(count)]
    return {"parameterName": name, "type": "CATEGORICAL", "categoricalValues": values}


REFUSED: dict[str, tuple[list[JsonObject], str, str]] = {
    "nothing to tune": (
        [{"hyperparameters": {"goal": "MAXIMIZE", "params": []}}],
        "hyperparameters.params",
        "required: the parameters to tune, unless resumePreviousJobId is given",
    ),
    "a negative number of trials": (
        [search(maxTrials=-1)],
        "hyperparameters.maxTrials",
        "-1 given; allowed: at least 1",
    ),
    "a negative number of trials at once": (
        [search(maxParallelTrials=-2)],
        "hyperparameters.maxParallelTrials",
        "-2 given; allowed: at least 1",
    ),
    "a metric that no program can report": (
        [search(hyperparameterMetricTag="m" * 1025)],
        "hyperparameters.hyperparameterMetricTag",
        "1025 characters given; allowed: at most 1024",
    ),
    "more categories than a model can have": (
        [search(*(categories(f"c{number}", 2001) for number in range(5)))],
        "hyperparameters.params",
        (
            "10005 categorical values in all; allowed: at most 10000, or algorithm RANDOM_SEARCH "
            "or GRID_SEARCH"
        ),
    ),
    "a category that no program can be started with": (
        [
            search(
                {"parameterName": "c", "type": "CATEGORICAL", "categoricalValues": ["é" * 50_001]}
            )
        ],
        "hyperparameters.params[0].categoricalValues[0]",
        "100002 bytes given; allowed: at most 100000",
    ),
    "a negative number of failures": (
        [search(maxFailedTrials=-1)],
        "hyperparameters.maxFailedTrials",
        "-1 given; allowed: 0 (then the service decides) or more",
    ),
    "more failures than trials": (
        [search(maxTrials=3, maxFailedTrials=4)],
        "hyperparameters.maxFailedTrials",
        "4 given; allowed: at most 3, the number of trials",
    ),
    "a job that can't have been": (
        [{"hyperparameters": {"resumePreviousJobId": "1-x"}}],
        "hyperparameters.resumePreviousJobId",
        (
            "'1-x' given; allowed: letters, digits and underscores, first a letter, at most 128 "
            "characters"
        ),
    ),
    "a job that goes on from itself": (
        [{"hyperparameters": {"resumePreviousJobId": "job_1"}}],
        "hyperparameters.resumePreviousJobId",
        '"job_1" given, the id of this job; allowed: the id of an earlier job',
    ),
    "a parameter without a name": (
        [search(param(parameterName=None))],
        "hyperparameters.params[0].parameterName",
        "required: the parameter's name, which the program gets as --NAME=VALUE",
    ),
    "two parameters of one name": (
        [search(param(), param())],
        "hyperparameters.params[1].parameterName",
        (
            "'lr' given, as in trainingInput.hyperparameters.params[0].parameterName; allowed: "
            "unique "
            "names"
        ),
    ),
    "a name that no program could read": (
        [search(param(parameterName="a=b"))],
        "hyperparameters.params[0].parameterName",
        "'a=b' given; allowed: a name without the character = and without spaces",
    ),
    "a name with the dashes that are put before it": (
        [search(param(parameterName="--a"))],
        "hyperparameters.params[0].parameterName",
        "'--a' given; allowed: 'a', which the program gets as --NAME=VALUE",
    ),
    "a name that the service uses itself": (
        [search(param(parameterName="job-dir")), {"jobDir": "gs://b/x"}],
        "hyperparameters.params[0].parameterName",
        '"job-dir" given; allowed: another name, because jobDir reaches the program as --job-dir',
    ),
    "a parameter without a type": (
        [search(param(type=None))],
        "hyperparameters.params[0].type",
        "required: DOUBLE, INTEGER, CATEGORICAL or DISCRETE",
    ),
    "a parameter of unspecified type": (
        [search(param(type="PARAMETER_TYPE_UNSPECIFIED"))],
        "hyperparameters.params[0].type",
        "required: DOUBLE, INTEGER, CATEGORICAL or DISCRETE",
    ),
    "no upper bound": (
        [search(param(maxValue=None))],
        "hyperparameters.params[0].maxValue",
        "required for DOUBLE; a bound that isn't given counts as 0",
    ),
    "bounds in the wrong order": (
        [search(param(minValue=2, maxValue=1))],
        "hyperparameters.params[0].maxValue",
        "1 given; allowed: at least 2, the lower bound",
    ),
    "half an integer": (
        [search(param(type="INTEGER", minValue=0.5))],
        "hyperparameters.params[0].minValue",
        "0.5 given; allowed for an integer: a whole number",
    ),
    "an integer of 65 bits": (
        [search(param(type="INTEGER", minValue=0, maxValue=2.0**63))],
        "hyperparameters.params[0].maxValue",
        "9.223372036854776e+18 given; allowed for an integer: a whole number of 64 bits",
    ),
    "a logarithm of 0": (
        [search(param(minValue=0, scaleType="UNIT_LOG_SCALE"))],
        "hyperparameters.params[0].minValue",
        "0 given; allowed with scaleType UNIT_LOG_SCALE: more than 0",
    ),
    "a reverse logarithm of 0": (
        [search(param(minValue=None, scaleType="UNIT_REVERSE_LOG_SCALE"))],
        "hyperparameters.params[0].minValue",
        "0 given; allowed with scaleType UNIT_REVERSE_LOG_SCALE: more than 0",
    ),
    "a grid over real numbers": (
        [search(algorithm="GRID_SEARCH")],
        "hyperparameters.params[0].type",
        "type DOUBLE given; allowed with algorithm GRID_SEARCH: INTEGER, CATEGORICAL, DISCRETE",
    ),
    "no categories": (
        [search({"parameterName": "x", "type": "CATEGORICAL"})],
        "hyperparameters.params[0].categoricalValues",
        "required for CATEGORICAL: the values to choose from",
    ),
    "bounds of categories": (
        [search(param(type="CATEGORICAL", categoricalValues=["a"], minValue=0))],
        "hyperparameters.params[0].maxValue",
        "1 given; parameters of type CATEGORICAL have no bounds",
    ),
    "no discrete values": (
        [search({"parameterName": "x", "type": "DISCRETE"})],
        "hyperparameters.params[0].discreteValues",
        "required: 1 to 1000 numbers, increasing",
    ),
    "too many discrete values": (
        [search({"parameterName": "x", "type": "DISCRETE", "discreteValues": list(range(1001))})],
        "hyperparameters.params[0].discreteValues",
        "1001 given; allowed: at most 1000",
    ),
    "discrete values that don't increase": (
        [search({"parameterName": "x", "type": "DISCRETE", "discreteValues": [1, 2, 2]})],
        "hyperparameters.params[0].discreteValues[2]",
        "2 given, behind 2; allowed: increasing numbers",
    ),
    "a discrete value without logarithm": (
        [
            search(
                {
                    "parameterName": "x",
                    "type": "DISCRETE",
                    "discreteValues": [-1, 2],
                    "scaleType": "UNIT_LOG_SCALE",
                }
            )
        ],
        "hyperparameters.params[0].discreteValues[0]",
        "-1 given; allowed with scaleType UNIT_LOG_SCALE: more than 0",
    ),
}


@pytest.mark.parametrize(("parts", "field", "description"), REFUSED.values(), ids=REFUSED)
def test_a_rule_says_where_and_what_is_allowed(
    parts: list[JsonObject], field: str, description: str
) -> None:
    assert refused(*parts) == {field: description}


ALLOWED: list[list[JsonObject]] = [
    [search()],
    [search(maxTrials=0, maxParallelTrials=0, maxFailedTrials=0)],
    [search(maxTrials=3, maxFailedTrials=3, maxParallelTrials=9)],
    [search(param(minValue=None))],
    [search(param(minValue=-1, maxValue=None))],
    [search(param(minValue=1, maxValue=1))],
    [search(param(type="INTEGER", minValue=1, maxValue=3), algorithm="GRID_SEARCH")],
    [search(param(scaleType="UNIT_LOG_SCALE"), algorithm=2)],
    [search(param(parameterName="job-dir"))],
    [search(param(parameterName="learning rate".replace(" ", "-")))],
    [search(param(type="CATEGORICAL", categoricalValues=[""], minValue=0, maxValue=0))],
    [search({"parameterName": "x", "type": "DISCRETE", "discreteValues": list(range(1000))})],
    [search(param(type="DISCRETE", discreteValues=[-1, 0.5]))],
    [{"hyperparameters": {"resumePreviousJobId": "earlier", "maxTrials": 5}}],
]


@pytest.mark.parametrize("parts", ALLOWED)
def test_the_neighbours_pass(parts: list[JsonObject]) -> None:
    assert refused(*parts) == {}


def test_without_bounds_both_are_asked_for() -> None:
    said = "required for DOUBLE; a bound that isn't given counts as 0"
    assert refused(search(param(minValue=None, maxValue=None))) == {
        "hyperparameters.params[0].minValue": said,
        "hyperparameters.params[0].maxValue": said,
    }


def test_both_that_a_bound_isnt_whole_and_that_it_is_too_low() -> None:
    bounds = param(type="INTEGER", minValue=2.5, maxValue=1.5)
    assert refused(search(bounds))["hyperparameters.params[0].maxValue"] == (
        "1.5 given; allowed for an integer: a whole number; allowed: at least 2.5, the lower bound"
    )


def test_a_discrete_value_isnt_compared_with_one_that_is_no_number() -> None:
    values = param(type="DISCRETE", minValue=None, maxValue=None, discreteValues=["x", -5, -6])
    assert list(refused(search(values))) == [
        "hyperparameters.params[0].discreteValues[0]",
        "hyperparameters.params[0].discreteValues[2]",
    ]
