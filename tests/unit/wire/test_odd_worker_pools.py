"""Worker pools in unusual places and numbers: accepted or refused as the documentation says.

Each test names what it follows: the section, and what that says, of Google's page "Distributed
training" (Vertex AI), or of "Use GPUs for training models" (AI Platform Training).
"""

from __future__ import annotations

import pytest

from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.preview.advice import advise
from footplate.domain.submission import Submission
from footplate.wire.json_text import JsonObject
from tests.support.catalogue import built_in
from tests.unit.wire.training_v1_inputs import CUSTOM, T4
from tests.unit.wire.training_v1_inputs import submission as training
from tests.unit.wire.vertex_v1_bodies import MACHINE, REDUCER, body, container, pool, submit

AT = "jobSpec.workerPoolSpecs"
WITH_T4: JsonObject = {**MACHINE, "acceleratorType": "NVIDIA_TESLA_T4", "acceleratorCount": 1}
PLAIN = "n1-standard-4"


def violations(submission: Submission) -> dict[str, str]:
    return {violation.field: violation.description for violation in submission.violations}


def parts(submission: Submission) -> list[tuple[ClusterRole, int]]:
    assert not submission.violations
    return [(role_of(pool), pool.replica_count) for pool in submission.spec.pools]


def advice(submission: Submission) -> tuple[str, ...]:
    assert not submission.violations
    return advise(submission.spec, built_in())


def test_the_place_in_the_list_says_what_a_pool_does() -> None:
    """Section "Configure a distributed training job": the table of places and tasks."""
    made = submit(body(pool(), pool(), pool(), pool()))

    assert parts(made) == [
        (ClusterRole.PRIMARY, 1),
        (ClusterRole.WORKER, 1),
        (ClusterRole.PARAMETER_SERVER, 1),
        (ClusterRole.EVALUATOR, 1),
    ]


@pytest.mark.parametrize("count", ["0", "2", "-1"])
def test_the_first_pool_is_the_primary_replica_alone(count: str) -> None:
    """Same section: the first pool is for the primary replica only; set its replicaCount to 1."""
    found = violations(submit(body(pool(replicaCount=count), pool())))

    assert "exactly 1" in found[f"{AT}[0].replicaCount"]


def test_the_first_pool_is_required() -> None:
    """Same section: a primary replica must be given."""
    found = violations(submit(body({}, pool())))

    assert f"{AT}[0]" in found


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        ((pool(), {}, pool()), [ClusterRole.PRIMARY, ClusterRole.PARAMETER_SERVER]),
        ((pool(), {}, pool(), {}), [ClusterRole.PRIMARY, ClusterRole.PARAMETER_SERVER]),
        ((pool(), {}, {}, pool()), [ClusterRole.PRIMARY, ClusterRole.EVALUATOR]),
        (
            (pool(), pool(), {}, pool()),
            [ClusterRole.PRIMARY, ClusterRole.WORKER, ClusterRole.EVALUATOR],
        ),
        ((pool(), {}, {}, {}), [ClusterRole.PRIMARY]),
        ((pool(), pool(), {}), [ClusterRole.PRIMARY, ClusterRole.WORKER]),
    ],
)
def test_an_empty_pool_is_skipped_and_keeps_its_place(
    pools: tuple[JsonObject, ...], expected: list[ClusterRole]
) -> None:
    """Section "Specify additional worker pools": an unused pool is left empty, which skips it.

    Its example has parameter servers without workers, an empty pool between and one at the end.
    """
    assert [part for part, _ in parts(submit(body(*pools)))] == expected


def test_a_fifth_pool_is_refused() -> None:
    """Section "Configure a distributed training job": the table has four places."""
    assert "at most 4" in violations(submit(body(*[pool()] * 5)))[AT]


def test_several_evaluators_are_accepted_with_a_warning() -> None:
    """Section "Training cluster structure": one or more evaluators; TensorFlow expects one."""
    vertex = submit(body(pool(), {}, {}, pool(replicaCount="2")))
    ml = training(CUSTOM, {"evaluatorType": PLAIN, "evaluatorCount": "2"})

    for made in (vertex, ml):
        assert (ClusterRole.EVALUATOR, 2) in parts(made)
        (said,) = advice(made)
        assert said == (
            "the job has 2 evaluators, and TensorFlow expects one: each evaluator evaluates the "
            "same checkpoints"
        )


def test_parameter_servers_without_workers() -> None:
    """Section "Specify additional worker pools": its example is such a job."""
    vertex = submit(body(pool(), {}, pool(replicaCount="3")))
    ml = training(CUSTOM, {"parameterServerType": PLAIN, "parameterServerCount": "3"})

    for made in (vertex, ml):
        assert parts(made) == [(ClusterRole.PRIMARY, 1), (ClusterRole.PARAMETER_SERVER, 3)]
        assert advice(made) == ()


def test_accelerators_on_parameter_servers_are_valid() -> None:
    """Section "Request GPU-enabled machines": parameterServerConfig takes acceleratorConfig."""
    vertex = submit(body(pool(), {}, pool(machineSpec=WITH_T4)))
    ml = training(
        CUSTOM,
        {
            "parameterServerType": PLAIN,
            "parameterServerCount": "1",
            "parameterServerConfig": {"acceleratorConfig": T4},
        },
    )

    for made in (vertex, ml):
        assert any("1 NVIDIA_TESLA_T4 would likely stand idle" in said for said in advice(made))


def test_accelerators_on_evaluators_are_valid() -> None:
    """Same sentence: evaluatorConfig takes one, too."""
    made = training(
        CUSTOM,
        {
            "evaluatorType": PLAIN,
            "evaluatorCount": "1",
            "evaluatorConfig": {"acceleratorConfig": T4},
        },
    )

    assert (ClusterRole.EVALUATOR, 1) in parts(made)


def test_reduction_servers_stand_in_the_third_pool() -> None:
    """Section "Train with Reduction Server": its image goes into the third worker pool."""
    reducers = container(imageUri=REDUCER)

    assert parts(submit(body(pool(), pool(), reducers)))[2] == (ClusterRole.REDUCER, 1)
    for number, pools in ((1, (pool(), reducers)), (3, (pool(), pool(), {}, reducers))):
        found = violations(submit(body(*pools)))
        assert found[f"{AT}[{number}].containerSpec.imageUri"] == (
            f"the image of Reduction Server given; allowed only in {AT}[2]"
        )


def test_gpus_of_reduction_servers_would_stand_idle() -> None:
    """Same section: reduction servers use no GPUs."""
    made = submit(body(pool(), pool(), {**container(imageUri=REDUCER), "machineSpec": WITH_T4}))

    assert any("reduction servers don't use GPUs" in said for said in advice(made))
