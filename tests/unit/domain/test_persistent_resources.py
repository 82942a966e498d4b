"""How persistent resources change, and which jobs fit into them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.errors import FailedPrecondition
from footplate.domain.jobs import MachineSpec
from footplate.domain.names import CustomJobName
from footplate.domain.persistent_resources import (
    Change,
    PersistentResource,
    ResourcePool,
    ResourceState,
    begin_deletion,
    begin_reboot,
    end_reboot,
    machines_of,
    misfits,
    note_provisioned,
    patch,
)
from tests.support.catalogue import built_in
from tests.support.jobs import CREATED, make_spec
from tests.support.persistent_resources import STANDARD, TWO_T4, make_resource

NAME = CustomJobName("demo", "us-central1", "1")


def running(count: int = 2) -> PersistentResource:
    return note_provisioned(make_resource(count=count), CREATED)


def resized(resource: PersistentResource, count: int) -> Change:
    (pool,) = resource.pools
    return Change(pools=(replace(pool, replica_count=count),), request="{}")


def test_it_runs_once_it_has_its_machines() -> None:
    resource = running()
    assert resource.state is ResourceState.RUNNING
    assert resource.provisioned == resource.pools
    assert resource.start_time == CREATED
    assert note_provisioned(resource, CREATED) is resource


def test_more_machines_are_waited_for_and_fewer_count_at_once() -> None:
    more = patch(running(), resized(running(), 5), CREATED)
    assert more.state is ResourceState.UPDATING
    assert more.provisioned[0].replica_count == 2
    assert note_provisioned(more, CREATED).provisioned[0].replica_count == 5
    less = patch(more, resized(more, 1), CREATED)
    assert less.state is ResourceState.RUNNING
    assert less.provisioned == less.pools


def test_its_machines_stay_what_they_are() -> None:
    pools = (ResourcePool("resource-pool-0", TWO_T4, 2),)
    with pytest.raises(FailedPrecondition, match="but for replicaCount"):
        patch(running(), Change(pools=pools), CREATED)
    with pytest.raises(
        FailedPrecondition, match="is PROVISIONING; only a resource that is RUNNING can be updated"
    ):
        patch(make_resource(), resized(make_resource(), 1), CREATED)


def test_names_and_labels_change_in_every_state() -> None:
    change = Change(display_name="x", labels=(("a", "b"),))
    for resource in (make_resource(), running(), begin_deletion(running(), CREATED)):
        changed = patch(resource, change, CREATED)
        assert (changed.display_name, changed.labels) == ("x", (("a", "b"),))
        assert (changed.state, changed.pools) == (resource.state, resource.pools)
        assert changed.version == resource.version + 1


def test_only_one_that_runs_reboots_and_none_that_reboots_is_deleted() -> None:
    with pytest.raises(
        FailedPrecondition, match="is PROVISIONING; only a resource that is RUNNING can be rebooted"
    ):
        begin_reboot(make_resource(), CREATED)
    rebooting = begin_reboot(running(), CREATED)
    with pytest.raises(
        FailedPrecondition, match="is REBOOTING; only a resource that is RUNNING can be deleted"
    ):
        begin_deletion(rebooting, CREATED)
    assert end_reboot(rebooting, CREATED).state is ResourceState.RUNNING
    stopping = begin_deletion(running(), CREATED)
    assert begin_deletion(stopping, CREATED) is stopping
    assert end_reboot(stopping, CREATED) is stopping
    assert note_provisioned(stopping, CREATED) is stopping


def test_machines_are_alike_whose_type_and_accelerators_are() -> None:
    pools = (
        ResourcePool("a", TWO_T4, 1),
        ResourcePool("b", STANDARD, 2),
        ResourcePool("c", TWO_T4, 3),
        ResourcePool("d", MachineSpec("complex_model_m_gpu"), 1),
    )
    assert machines_of(pools, built_in()) == {
        "n1-standard-8 with 2 NVIDIA_TESLA_T4": 4,
        "n1-standard-4": 2,
        "complex_model_m_gpu with 4 NVIDIA_TESLA_K80": 1,
    }


@pytest.mark.parametrize(
    ("workers", "machine", "said"),
    [
        (1, STANDARD, []),
        (
            2,
            STANDARD,
            [
                (
                    "jobSpec.workerPoolSpecs[1].replicaCount: 2 given, but the job needs 3 "
                    "n1-standard-4 in all; persistent resource night has 2 n1-standard-4"
                )
            ],
        ),
        (
            0,
            TWO_T4,
            [
                (
                    "jobSpec.workerPoolSpecs[0].machineSpec: n1-standard-8 with 2 NVIDIA_TESLA_T4 "
                    "given; persistent resource night has 2 n1-standard-4"
                )
            ],
        ),
    ],
)
def test_a_job_must_fit_into_it(workers: int, machine: MachineSpec, said: list[str]) -> None:
    spec = make_spec(NAME, workers=workers, machine=machine)
    fields = [f"jobSpec.workerPoolSpecs[{index}].containerSpec" for index in range(2)]
    pools = tuple(
        replace(pool, field=field) for pool, field in zip(spec.pools, fields, strict=False)
    )
    found = list(misfits(replace(spec, pools=pools), make_resource(), built_in()))
    texts = [f"{violation.field}: {violation.description}" for violation in found]
    assert len(texts) >= len(said)
    for text in said:
        assert any(each.startswith(text) for each in texts), texts
    if not said:
        assert texts == []
