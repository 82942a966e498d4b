"""What happens to gangs on a real Slurm when people, nodes, controllers and servers interfere."""

import os
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from footplate.backends.engine.engine import EngineUnavailable, JobRequest
from footplate.backends.slurm import SlurmEngine, SlurmSettings
from footplate.ports.backend import AttemptStart, Presence
from tests.support.backend_rig import WORKERS, all_are, make_request, make_restart, see
from tests.support.launcher_processes import find_with_parents
from tests.support.local_backend import wait_until
from tests.support.slurm import PARTITION, SlurmCluster
from tests.support.slurm_rig import SlurmRig

LEASE_S, MARGIN_S = 8.0, 4.0


@pytest.fixture
def make_rig(slurm: SlurmCluster, tmp_path: Path) -> Iterator[Callable[..., SlurmRig]]:
    rigs: list[SlurmRig] = []

    def make(**settings: object) -> SlurmRig:
        rigs.append(SlurmRig(slurm, tmp_path, **settings))  # type: ignore[arg-type]  # by name
        return rigs[-1]

    yield make
    for rig in rigs:
        rig.close()


@pytest.fixture
def rig(make_rig: Callable[..., SlurmRig]) -> SlurmRig:
    return make_rig()


def start(rig: SlurmRig, request: AttemptStart) -> AttemptStart:
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    return request


def job_ids(rig: SlurmRig) -> list[str]:
    return rig.cluster.command("squeue", "-h", "-o", "%i").split()


def reasons(rig: SlurmRig, request: AttemptStart) -> set[str]:
    return {each.reason for each in see(rig.backend, request)}


def expect_gone(rig: SlurmRig, request: AttemptStart) -> None:
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))


def test_who_cancels_a_job_in_slurm_ends_the_gang_and_is_named(rig: SlurmRig) -> None:
    request = start(rig, make_request("u-1", WORKERS[:2]))
    pids = [rig.pid("u-1", worker) for worker in WORKERS[:2]]
    [job] = job_ids(rig)
    rig.cluster.command("scancel", job)
    expect_gone(rig, request)
    assert reasons(rig, request) == {f"cancelled in Slurm (job {job})"}
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_who_cancels_a_job_that_waits_is_named_too(make_rig: Callable[..., SlurmRig]) -> None:
    rig = make_rig()
    rig.settings = SlurmSettings(
        scratch=str(rig.scratch), environment=rig.cluster.environment, options=("--hold",)
    )
    rig.engine = rig.make_engine()
    rig.reopen()
    request = make_request("u-1")
    rig.backend.start(request)
    rig.settle(lambda: any("holds the job" in reason for reason in reasons(rig, request)))
    [job] = job_ids(rig)
    rig.cluster.command("scancel", job)
    expect_gone(rig, request)
    assert reasons(rig, request) == {f"cancelled in Slurm (job {job})"}
    assert rig.runs(request.attempt_id) == 0


def test_a_controller_that_is_away_changes_nothing_and_what_was_asked_for_comes_later(
    rig: SlurmRig,
) -> None:
    first, second = start(rig, make_request("u-1")), make_request("v-1")
    rig.cluster.stop_controller()
    try:
        rig.backend.start(second)
        rig.settle(lambda: any("does" in reason for reason in reasons(rig, second)))
        assert all_are(rig.backend, first, Presence.LIVE)
    finally:
        rig.cluster.start_controller()
    rig.settle(lambda: all_are(rig.backend, second, Presence.LIVE))
    assert all_are(rig.backend, first, Presence.LIVE)
    assert rig.runs(first.attempt_id) == rig.runs(second.attempt_id) == 1


def test_an_outage_of_the_server_within_the_lease_ends_nothing(rig: SlurmRig) -> None:
    going, ending = start(rig, make_request("u-1")), start(rig, make_request("v-1"))
    rig.door.closed = True
    rig.backend.close()
    rig.finish(ending.attempt_id, WORKERS[0])
    wait_until((rig.home("v-1", WORKERS[0]) / "gone").exists)
    rig.door.closed = False
    rig.reopen()
    assert all_are(rig.backend, going, Presence.LIVE)
    rig.backend.watch(lambda _: None)
    expect_gone(rig, ending)
    assert all_are(rig.backend, going, Presence.LIVE)
    assert rig.runs(going.attempt_id) == 1


def test_a_launcher_whose_lease_is_over_ends_its_replica(make_rig: Callable[..., SlurmRig]) -> None:
    rig = make_rig(lease_s=LEASE_S, margin_s=MARGIN_S)
    request = start(rig, make_request("u-1"))
    pid = rig.pid("u-1", WORKERS[0])
    rig.door.closed = True
    wait_until(lambda: not Path(f"/proc/{pid}").exists())
    rig.door.closed = False
    expect_gone(rig, request)


def test_nothing_runs_twice_when_a_machine_dies(make_rig: Callable[..., SlurmRig]) -> None:
    """It is started again elsewhere, once what it was can't run any more."""
    rig = make_rig(lease_s=LEASE_S, margin_s=MARGIN_S)
    request = start(rig, make_request("u-1"))
    node = see_node(rig)
    launchers = find_with_parents(rig.launcher_directories("u-1"))
    rig.cluster.kill_node(node)
    try:
        for pid in (*launchers, rig.pid("u-1", WORKERS[0])):
            os.kill(pid, signal.SIGKILL)
        expect_gone(rig, request)
        assert all("did not answer" in reason for reason in reasons(rig, request))
        rig.backend.start(make_restart(request, WORKERS[0]))
        rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
        assert rig.directory("u-1", WORKERS[0]).name.endswith(".1")
    finally:
        rig.cluster.start_node(node)


def see_node(rig: SlurmRig) -> str:
    [node] = rig.cluster.command("squeue", "-h", "-o", "%N").split()
    return node


class ForgetfulEngine(SlurmEngine):
    """Its first submission arrives, but its server doesn't learn of that."""

    forgot = 0

    def submit(self, request: JobRequest) -> str:
        job_id = super().submit(request)
        if not self.forgot:
            self.forgot += 1
            raise EngineUnavailable("sbatch has died")
        return job_id


def test_a_job_whose_submission_nobody_remembers_is_found_by_its_name(rig: SlurmRig) -> None:
    engine = rig.engine = ForgetfulEngine(rig.settings)
    rig.reopen()
    request = start(rig, make_request("u-1", WORKERS[:2]))
    assert engine.forgot == 1
    assert len(job_ids(rig)) == 1
    assert rig.runs(request.attempt_id) == 2


def test_other_jobs_are_never_touched(rig: SlurmRig) -> None:
    foreign = rig.cluster.command(
        "sbatch",
        "--parsable",
        "--output=/dev/null",
        "--job-name=footplate-of-another",
        "--wrap=sleep 600",
    ).strip()
    request = start(rig, make_request("u-1"))
    rig.backend.stop(request.attempt_id)
    expect_gone(rig, request)
    rig.backend.forget(request.attempt_id)
    rig.settle(lambda: job_ids(rig) == [foreign])


def test_a_partition_that_does_not_exist_is_the_reason_that_a_gang_waits(
    make_rig: Callable[..., SlurmRig],
) -> None:
    rig = make_rig()
    rig.settings = SlurmSettings(
        partition="nowhere", scratch=str(rig.scratch), environment=rig.cluster.environment
    )
    rig.engine = rig.make_engine()
    rig.reopen()
    request = make_request("u-1")
    rig.backend.start(request)
    rig.settle(lambda: any("Slurm refuses" in reason for reason in reasons(rig, request)))
    report = rig.engine.check()
    assert report.reachable
    assert "'nowhere' has no nodes" in report.problems[0]


def test_no_command_and_no_record_of_slurm_shows_a_token(rig: SlurmRig) -> None:
    request = start(rig, make_request("u-1"))
    [job] = job_ids(rig)
    token = request.tickets[0].token
    shown = rig.cluster.command("scontrol", "show", "job", job)
    lines = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if is_there(path)]
    assert "footplate-" in shown
    assert token not in shown
    assert not any(token.encode() in line or b"europe-west4/u-1" in line for line in lines)


def is_there(path: Path) -> bool:
    try:
        return path.read_bytes() is not None
    except OSError:
        return False


def test_a_check_says_what_slurm_has(slurm: SlurmCluster) -> None:
    settings = SlurmSettings(partition=PARTITION, environment=slurm.environment)
    report = SlurmEngine(settings).check()
    assert report.reachable
    assert report.problems == ()
    assert any(fact.startswith("nodes: ") and "GRES gpu:2" in fact for fact in report.facts)
    assert any(fact.startswith("queue: ") for fact in report.facts)


def test_a_slurm_without_commands_is_not_reachable() -> None:
    report = SlurmEngine(SlurmSettings(commands="/nonexistent")).check()
    assert not report.reachable
    assert "can't be run" in report.problems[0]
