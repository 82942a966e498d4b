"""How a real Slurm ends, suspends and limits jobs, and what reasons say."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.backends.slurm import SlurmSettings
from footplate.ports.backend import AttemptStart, EndCause, Presence, ReplicaObservation
from tests.support.backend_rig import WORKERS, all_are, make_request, see
from tests.support.local_backend import wait_until
from tests.support.slurm import PARTITION, SlurmCluster
from tests.support.slurm_rig import SlurmRig

SHORT = "short"


@pytest.fixture
def make_rig(slurm: SlurmCluster, tmp_path: Path) -> Iterator[Callable[..., SlurmRig]]:
    rigs: list[SlurmRig] = []

    def make(**settings: object) -> SlurmRig:
        own = SlurmSettings(
            scratch=str(tmp_path / "scratch"),
            environment=slurm.environment,
            **settings,  # type: ignore[arg-type]  # by name
        )
        rigs.append(SlurmRig(slurm, tmp_path, settings=own))
        return rigs[-1]

    yield make
    for rig in rigs:
        rig.close()


def start(rig: SlurmRig, request: AttemptStart) -> str:
    """Starts the replicas; returns the job's id in Slurm."""
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    return only(rig, request).engine_id


def only(rig: SlurmRig, request: AttemptStart) -> ReplicaObservation:
    first, *_ = see(rig.backend, request)
    return first


def expect_end(rig: SlurmRig, request: AttemptStart, cause: EndCause, reason: str) -> None:
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    told = {(each.cause, each.reason) for each in see(rig.backend, request)}
    assert told == {(cause, reason)}


def test_a_job_that_another_one_preempts(make_rig: Callable[..., SlurmRig], urgent: str) -> None:
    rig, request = make_rig(options=("--nodelist=n1", "--exclusive")), make_request("u-1")
    job = start(rig, request)
    rig.cluster.command(
        "sbatch", "-p", urgent, "-w", "n1", "--exclusive", "--wrap=sleep 1", "-o", "/dev/null"
    )
    reason = f"Slurm gave the nodes of the job to another one (job {job} in Slurm: PREEMPTED)"
    expect_end(rig, request, EndCause.PREEMPTED, reason)


def test_a_job_that_ends_by_itself_when_it_is_preempted(
    make_rig: Callable[..., SlurmRig], urgent: str
) -> None:
    """Slurm asks its step to end, gives it a while, and then says of it what it says of any other.

    The script of a single replica, which has no step, isn't asked.
    """
    rig = make_rig(options=("--nodelist=n1", "--exclusive"))
    request = make_request("u-1", WORKERS[:2])
    rig.cluster.command("scontrol", "update", f"PartitionName={PARTITION}", "GraceTime=60")
    try:
        job = start(rig, request)
        rig.cluster.command(
            "sbatch", "-p", urgent, "-w", "n1", "--exclusive", "--wrap=sleep 1", "-o", "/dev/null"
        )
        words = f"(job {job} in Slurm, which asked it to end)"
        reason = f"Slurm gave the nodes of the job to another one {words}"
        expect_end(rig, request, EndCause.PREEMPTED, reason)
    finally:
        rig.cluster.command("scontrol", "update", f"PartitionName={PARTITION}", "GraceTime=0")


@pytest.mark.soak
def test_a_job_that_reaches_its_time_limit(make_rig: Callable[..., SlurmRig]) -> None:
    """A minute is the least that Slurm takes."""
    rig, request = make_rig(options=("--time=1",)), make_request("u-1", WORKERS[:2])
    job = start(rig, request)
    wait_until(lambda: all_are(rig.backend, request, Presence.GONE), 180.0)
    words = "Slurm ended the job at the time limit of --time or of its partition"
    reason = f"{words} (job {job} in Slurm: TIMEOUT)"
    expect_end(rig, request, EndCause.TIME_LIMIT, reason)


def test_a_job_that_is_suspended_and_resumed(make_rig: Callable[..., SlurmRig]) -> None:
    rig, request = make_rig(), make_request("u-1")
    job = start(rig, request)
    rig.cluster.command("scontrol", "suspend", job)
    words = f"its programs stand still (job {job} in Slurm: SUSPENDED)"
    rig.settle(lambda: words in only(rig, request).reason)
    assert only(rig, request).presence is Presence.LIVE
    rig.cluster.command("scontrol", "resume", job)
    rig.settle(lambda: not only(rig, request).reason)
    rig.finish(request.attempt_id, WORKERS[0])
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    assert rig.runs(request.attempt_id) == 1


def test_a_script_that_fails_says_why(make_rig: Callable[..., SlurmRig]) -> None:
    rig, request = make_rig(python="python3.99"), make_request("u-1")
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    told = only(rig, request)
    assert told.cause is EndCause.UNKNOWN
    assert "FAILED): " in told.reason
    assert "python3.99: not found" in told.reason


@pytest.mark.parametrize(
    ("options", "limit_s", "expected"),
    [
        ((), 0.0, "UNLIMITED"),
        ((), 5400.0, "2:00:00"),
        (("--time=7",), 5400.0, "7:00"),
        ((f"--partition={SHORT}",), 5400.0, "50:00"),
    ],
)
def test_the_limit_of_a_job_is_slurms_too(
    make_rig: Callable[..., SlurmRig], options: tuple[str, ...], limit_s: float, expected: str
) -> None:
    rig, request = make_rig(options=options), replace(make_request("u-1"), run_limit_s=limit_s)
    rig.cluster.command("scontrol", "create", f"PartitionName={SHORT}", "Nodes=ALL", "MaxTime=50")
    try:
        job = start(rig, request)
        shown = rig.cluster.command("squeue", "-h", "-j", job, "-o", "%l").strip()
        # The backfill scheduler writes a year where there is no limit.
        assert shown.replace("365-00:00:00", "UNLIMITED") == expected
    finally:
        rig.end_jobs()
        rig.cluster.command("scontrol", "delete", f"PartitionName={SHORT}")
