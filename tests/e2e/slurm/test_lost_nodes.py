"""A real Slurm with a node that crashes: what proves it ends the wait within a minute."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.ports.backend import AttemptStart, Presence
from tests.support.backend_rig import WORKERS, all_are, make_request, make_restart, see
from tests.support.fence import fenced_nodes, make_fence
from tests.support.local_backend import wait_until
from tests.support.slurm import SlurmMachines, running_slurm_on_machines
from tests.support.slurm_rig import SlurmMachinesRig

CHIEF, WORKER = WORKERS[:2]
LIMIT_S = 60.0
BOOT_S = 5.0
"""No machine boots at once: a boot at the moment of the last call would be no proof."""


@pytest.fixture(scope="module")
def machines() -> Iterator[SlurmMachines]:
    with running_slurm_on_machines() as cluster:
        yield cluster


@pytest.fixture
def rig(machines: SlurmMachines, tmp_path: Path) -> Iterator[SlurmMachinesRig]:
    """With the times of a region that sets none, and a command that believes that a node is off."""
    rig = SlurmMachinesRig(machines, tmp_path, fence=make_fence(tmp_path))
    yield rig
    rig.close()


def start_gang(rig: SlurmMachinesRig) -> AttemptStart:
    """It has run for so long that the states of its nodes are recorded."""
    request = make_request("u-1", (CHIEF, WORKER))
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    files = AttemptFiles(rig.root)

    def is_recorded() -> bool:
        attempt = files.load(request.attempt_id)
        assert attempt is not None
        notes = (files.read_note(attempt.id, r, "node") for r in attempt.replicas.values())
        return all(notes)

    rig.settle(is_recorded)
    return request


def expect_restart(rig: SlurmMachinesRig, request: AttemptStart, began_s: float) -> None:
    """The worker runs again elsewhere within the limit, and the chief has gone on."""
    chief = rig.pid("u-1", CHIEF)

    def is_gone() -> bool:
        assert len(rig.supervisor_pids("u-1", WORKER)) < 2
        return see(rig.backend, request)[1].presence is Presence.GONE

    wait_until(is_gone, LIMIT_S)
    gone_s = time.monotonic() - began_s
    rig.backend.start(make_restart(request, WORKER))
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    live_s = time.monotonic() - began_s
    print(f"gone after {gone_s:.1f} s, live again after {live_s:.1f} s")
    assert live_s < LIMIT_S
    assert rig.pid("u-1", CHIEF) == chief


def test_a_node_that_crashes_and_boots_is_dead(rig: SlurmMachinesRig, tmp_path: Path) -> None:
    request = start_gang(rig)
    dead, began_s = rig.machine_of(request.attempt_id, WORKER), time.monotonic()
    rig.machines.kill(dead)
    time.sleep(BOOT_S)
    rig.start_machine(dead)
    expect_restart(rig, request, began_s)
    assert fenced_nodes(tmp_path) == []


def test_a_node_that_crashes_and_is_fenced_is_dead(rig: SlurmMachinesRig, tmp_path: Path) -> None:
    request = start_gang(rig)
    dead, began_s = rig.machine_of(request.attempt_id, WORKER), time.monotonic()
    rig.machines.kill(dead)
    try:
        expect_restart(rig, request, began_s)
        assert fenced_nodes(tmp_path) == [dead]
    finally:
        rig.start_machine(dead)
