"""What ml v1 refuses of scale tiers and roles, and what next to it passes."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.wire.json_text import JsonObject
from tests.unit.wire.training_v1_inputs import CATALOGUE, CUSTOM, T4, gpus, refused, submission

REFUSED: dict[str, tuple[list[JsonObject], str, str]] = {
    "a count of a predefined tier": (
        [{"scaleTier": "BASIC", "workerCount": 2}],
        "workerCount",
        "2 given; allowed only with scaleTier CUSTOM, but scaleTier is BASIC",
    ),
    "a type of a predefined tier": (
        [{"scaleTier": "STANDARD_1", "parameterServerType": "n1-standard-4"}],
        "parameterServerType",
        '"n1-standard-4" given; allowed only with scaleTier CUSTOM, but scaleTier is STANDARD_1',
    ),
    "a type without a tier": (
        [{"masterType": "n1-standard-4"}],
        "masterType",
        '"n1-standard-4" given; allowed only with scaleTier CUSTOM, but scaleTier is BASIC',
    ),
    "an accelerator of a predefined tier": (
        [{"scaleTier": "BASIC_GPU", "masterConfig": {"acceleratorConfig": T4}}],
        "masterConfig.acceleratorConfig",
        (
            '{"count": "1", "type": "NVIDIA_TESLA_T4"} given; allowed only with scaleTier CUSTOM, '
            "but scaleTier is BASIC_GPU"
        ),
    ),
    "CUSTOM without a master": (
        [{"scaleTier": "CUSTOM"}],
        "masterType",
        "required with scaleTier CUSTOM: a machine type, such as n1-standard-4",
    ),
    "a count without its type": (
        [CUSTOM, {"workerCount": 2}],
        "workerType",
        "required, because workerCount is 2: a machine type, such as n1-standard-4",
    ),
    "an evaluator without its type": (
        [CUSTOM, {"evaluatorCount": 1}],
        "evaluatorType",
        "required, because evaluatorCount is 1: a machine type, such as n1-standard-4",
    ),
    "a negative count": (
        [CUSTOM, {"workerType": "n1-standard-4", "workerCount": -1}],
        "workerCount",
        "-1 given; allowed: 0 to 10000",
    ),
    "a count beyond reason": (
        [CUSTOM, {"parameterServerType": "n1-standard-4", "parameterServerCount": 10**12}],
        "parameterServerCount",
        "1000000000000 given; allowed: 0 to 10000",
    ),
}


@pytest.mark.parametrize(("parts", "field", "description"), REFUSED.values(), ids=REFUSED)
def test_a_rule_says_where_and_what_is_allowed(
    parts: list[JsonObject], field: str, description: str
) -> None:
    assert refused(*parts) == {field: description}


ALLOWED: list[list[JsonObject]] = [
    [],
    [{"scaleTier": None}],
    [{"scaleTier": 0, "workerCount": "0"}],
    [{"scaleTier": "BASIC", "masterConfig": {"acceleratorConfig": {}}}],
    [{"scaleTier": "PREMIUM_1"}],
    [{"scaleTier": "BASIC_TPU"}],
    [{"scaleTier": "BASIC_GPU", "region": "us-west1"}],
    [CUSTOM],
    [CUSTOM, {"workerType": "n1-highcpu-16"}],
    [CUSTOM, {"workerType": "n1-standard-4", "workerCount": "10000", "workerConfig": {}}],
]


@pytest.mark.parametrize("parts", ALLOWED)
def test_the_neighbours_pass(parts: list[JsonObject]) -> None:
    assert refused(*parts) == {}


@given(
    st.sampled_from(["BASIC", "STANDARD_1", "CUSTOM", "BASIC_GPU"]),
    st.sampled_from(["", *CATALOGUE.machine_types]),
    st.integers(-1, 3),
    st.sampled_from(sorted(CATALOGUE.accelerators)),
    st.integers(-1, 17),
    st.sampled_from([*CATALOGUE.regions, ""]),
)
def test_accepted_jobs_have_a_zone_and_their_replicas(
    tier: str, machine: str, workers: int, accelerator: str, count: int, region: str
) -> None:
    made = submission(
        {"scaleTier": tier, "masterType": machine, "workerType": machine, "workerCount": workers},
        {"workerConfig": gpus(accelerator, count), "region": region},
    )
    if made.violations:
        return
    counts = {"BASIC": 1, "BASIC_GPU": 1, "STANDARD_1": 8, "CUSTOM": 1 + workers}
    assert len(made.spec.replica_names()) == counts[tier]
    for pool in made.spec.pools:
        assert pool.machine.machine_type in CATALOGUE.machine_types
