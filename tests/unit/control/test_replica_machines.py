"""The machines that replicas ask their backend for."""

from __future__ import annotations

from dataclasses import replace

from footplate.control.replica_machines import machines_of
from footplate.domain.jobs import MachineSpec
from footplate.ports.backend import ReplicaMachine
from tests.support.catalogue import built_in
from tests.support.jobs import make_spec
from tests.unit.control.reconciler_rig import MASTER, WORKER, Rig


def test_a_start_says_the_region_and_each_replicas_machine() -> None:
    rig = Rig(workers=1)

    (request,) = rig.backend.requests

    machine = ReplicaMachine("n1-standard-4", vcpus=4, memory_mb=15 << 10)
    assert request.region == rig.job.spec.region
    assert {ticket.replica: ticket.machine for ticket in request.tickets} == {
        MASTER: machine,
        WORKER: machine,
    }


def test_accelerators_are_those_asked_for_or_brought_by_the_type() -> None:
    spec = make_spec(workers=1)
    asked = MachineSpec("n1-standard-8", "NVIDIA_TESLA_T4", 2)
    brought = MachineSpec("standard_p100")
    first, second = spec.pools
    pools = (replace(first, machine=asked), replace(second, machine=brought))

    machines = machines_of(replace(spec, pools=pools), built_in())

    assert machines[MASTER].accelerator_type == "NVIDIA_TESLA_T4"
    assert machines[MASTER].accelerator_count == 2
    assert machines[WORKER].accelerator_type == "NVIDIA_TESLA_P100"
    assert machines[WORKER].accelerator_count == 1


def test_of_a_type_that_has_left_the_catalogue_only_the_name_is_known() -> None:
    spec = make_spec()
    (pool,) = spec.pools
    gone = replace(spec, pools=(replace(pool, machine=MachineSpec("gone-4")),))

    assert machines_of(gone, built_in()) == {MASTER: ReplicaMachine("gone-4")}
