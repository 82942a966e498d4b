"""Gangs on a real Slurm whose replicas have different options, or share a node with GPUs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.backends.slurm import SlurmSettings
from footplate.ports.backend import AttemptStart, EndCause, Presence, ReplicaMachine
from tests.support.backend_rig import WORKERS, all_are, make_request, make_restart, see
from tests.support.slurm import SlurmCluster
from tests.support.slurm_rig import SlurmRig

MASTER, *OTHERS = WORKERS
PLAIN = ReplicaMachine("plain", 1)
GPU = ReplicaMachine("gpu", 1, accelerator_type="NVIDIA_TESLA_T4", accelerator_count=1)


@pytest.fixture
def rig(slurm: SlurmCluster, tmp_path: Path) -> Iterator[SlurmRig]:
    settings = SlurmSettings(
        scratch=str(tmp_path / "scratch"),
        environment=slurm.environment,
        machines={"plain": ("--constraint=kind-n1",), "gpu": ("--constraint=kind-n3",)},
    )
    rig = SlurmRig(slurm, tmp_path, settings=settings)
    yield rig
    rig.close()


def make_gang(**machines: ReplicaMachine) -> AttemptStart:
    """Replicas by the last word of their names: ``master``, ``worker0``, ``worker1``."""
    request = make_request("u-1", WORKERS)
    named = dict(zip(("master", "worker0", "worker1"), request.tickets, strict=True))
    tickets = (replace(named[name], machine=machine) for name, machine in machines.items())
    return replace(request, tickets=tuple(tickets))


def places(rig: SlurmRig, request: AttemptStart) -> list[tuple[str, str, str]]:
    """The node of each replica, its rank, and the GPUs that its supervisor and program see."""
    found = []
    for seen in see(rig.backend, request):
        file = Path(f"/proc/{rig.pid(request.attempt_id, seen.replica)}/environ")
        pairs = dict(pair.partition("=")[::2] for pair in file.read_text().split("\0"))
        gpus = pairs.get("CUDA_VISIBLE_DEVICES", "none")
        found.append((seen.node, pairs["SLURM_PROCID"], gpus))
    return sorted(found)


def start(rig: SlurmRig, request: AttemptStart) -> str:
    """Starts the gang, and returns its job in Slurm once all of it is live."""
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    [job] = {seen.engine_id for seen in see(rig.backend, request)}
    return job


def test_replicas_whose_gpus_fit_share_a_node_and_see_their_own(rig: SlurmRig) -> None:
    """One node has two, and no other has one."""
    request = make_gang(worker0=GPU, worker1=GPU)
    start(rig, request)
    assert places(rig, request) == [("n3", "0", "0"), ("n3", "1", "1")]


def test_replicas_of_different_options_start_together_and_again_in_place(rig: SlurmRig) -> None:
    """A master without GPUs on one kind of node, and workers that share a node with GPUs."""
    request = make_gang(master=PLAIN, worker0=GPU, worker1=GPU)
    job = start(rig, request)
    placed = places(rig, request)
    assert placed == [("n1", "0", "none"), ("n3", "1", "0"), ("n3", "2", "1")]
    rig.kill(request.attempt_id, OTHERS[1])
    rig.settle(lambda: not all_are(rig.backend, request, Presence.LIVE))
    rig.settle(lambda: see(rig.backend, request)[2].presence is Presence.GONE)
    rig.backend.start(make_restart(request, OTHERS[1]))
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    assert places(rig, request) == placed
    assert {seen.engine_id for seen in see(rig.backend, request)} == {job}


def test_components_that_somebody_cancels_are_gone_as_one(
    rig: SlurmRig, slurm: SlurmCluster
) -> None:
    request = make_gang(master=PLAIN, worker0=GPU)
    job = start(rig, request)
    slurm.command("scancel", job)
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    seen = see(rig.backend, request)
    assert all(each.cause is EndCause.CANCELLED for each in seen)
    assert seen[0].reason.startswith("cancelled in Slurm (job ")


def test_components_of_which_slurm_refuses_one_wait_and_say_so(
    rig: SlurmRig, slurm: SlurmCluster
) -> None:
    """What Slurm had taken of the job is no job that somebody has cancelled."""
    many = replace(GPU, accelerator_count=3)
    request = make_gang(master=PLAIN, worker0=many)
    rig.backend.start(request)
    rig.settle(lambda: "Slurm refuses its job" in see(rig.backend, request)[0].reason)
    rig.settle(lambda: "CANCELLED" in slurm.command("squeue", "-h", "-t", "all", "-o", "%T"))
    end_s = time.monotonic() + 1.0  # some looks of the backend later
    while time.monotonic() < end_s:
        assert all_are(rig.backend, request, Presence.WAITING)
        time.sleep(0.1)
