"""A real Slurm by its slurmrestd alone, with a token."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from footplate.backends.engine.engine import EngineUnavailable, LauncherRequest
from footplate.backends.slurm import RestServer, SlurmEngine, SlurmSettings
from footplate.domain.job_states import State
from footplate.ports.backend import AttemptStart, Presence
from tests.e2e.slurm.conftest import REGION, ServeRegion
from tests.support.backend_rig import WORKERS, all_are, make_request, see
from tests.support.engine_contract import EngineContract
from tests.support.ports import free_port
from tests.support.slurm import PARTITION, SlurmCluster, require_slurmrestd
from tests.support.slurm_rig import SlurmRig

USER, HOUR_S = "root", 3600


@dataclass(frozen=True)
class Rest:
    cluster: SlurmCluster
    port: int

    def server(self, folder: Path) -> RestServer:
        file = folder / "token"
        file.touch(mode=0o600)
        file.write_text(self.cluster.make_token(USER, HOUR_S))
        return RestServer(f"http://127.0.0.1:{self.port}", USER, str(file))


@pytest.fixture(scope="module")
def rest(slurm: SlurmCluster) -> Iterator[Rest]:
    require_slurmrestd()
    found = Rest(slurm, free_port())
    slurm.start_rest(found.port)
    yield found
    slurm.stop_rest()


@pytest.fixture
def server(rest: Rest, tmp_path: Path) -> RestServer:
    return rest.server(tmp_path)


@pytest.fixture
def rig(rest: Rest, server: RestServer, tmp_path: Path) -> Iterator[SlurmRig]:
    """With commands that don't exist: nothing uses them."""
    settings = SlurmSettings(
        scratch=str(tmp_path / "scratch"),
        python=sys.executable,
        commands="/nonexistent",
        server=server,
    )
    rig = SlurmRig(rest.cluster, tmp_path, settings=settings)
    yield rig
    rig.close()


def start(rig: SlurmRig, request: AttemptStart) -> AttemptStart:
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.LIVE))
    return request


def reasons(rig: SlurmRig, request: AttemptStart) -> set[str]:
    return {each.reason for each in see(rig.backend, request)}


class TestCoreByRest:
    """Of the contract, in each run."""

    expect = EngineContract.expect
    start_live = EngineContract.start_live
    test_a_launcher_that_is_killed_ends_its_replica_and_no_other = (
        EngineContract.test_a_launcher_that_is_killed_ends_its_replica_and_no_other
    )
    expect_restart = EngineContract.expect_restart
    test_a_task_that_is_killed_costs_one_start = (
        EngineContract.test_a_task_that_is_killed_costs_one_start
    )
    test_what_is_killed_between_two_starts_costs_none = (
        EngineContract.test_what_is_killed_between_two_starts_costs_none
    )
    test_a_started_gang_comes_to_life = EngineContract.test_a_started_gang_comes_to_life
    test_stop_ends_every_live_replica = EngineContract.test_stop_ends_every_live_replica
    test_what_waited_at_the_death_of_the_server_still_comes_up_once = (
        EngineContract.test_what_waited_at_the_death_of_the_server_still_comes_up_once
    )


@pytest.mark.soak
class TestSlurmByRest(EngineContract):
    """All of it."""


def test_who_cancels_a_job_in_slurm_ends_the_gang_and_is_named(rig: SlurmRig) -> None:
    request = start(rig, make_request("u-1", WORKERS[:2]))
    [job] = rig.cluster.command("squeue", "-h", "-o", "%i").split()
    rig.cluster.command("scancel", job)
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    assert reasons(rig, request) == {f"cancelled in Slurm (job {job})"}


def test_a_job_has_its_limit_and_says_why_it_failed(rig: SlurmRig) -> None:
    rig.settings = replace(rig.settings, python="python3.99")
    rig.engine = rig.make_engine()
    rig.reopen()
    request = replace(make_request("u-1"), run_limit_s=5400.0)
    rig.backend.start(request)
    rig.settle(lambda: all_are(rig.backend, request, Presence.GONE))
    [reason] = reasons(rig, request)
    assert reason.endswith("python3.99: not found")
    job = reason.partition("(job ")[2].partition(" ")[0]
    limit = rig.cluster.command("squeue", "-h", "-t", "all", "-j", job, "-o", "%l")
    assert limit.strip() == "2:00:00"


def test_a_slurmrestd_that_is_away_changes_nothing_and_what_was_asked_for_comes_later(
    rig: SlurmRig, rest: Rest
) -> None:
    first, second = start(rig, make_request("u-1")), make_request("v-1")
    rest.cluster.stop_rest()
    try:
        rig.backend.start(second)
        rig.settle(lambda: any("can't be reached" in each for each in reasons(rig, second)))
        assert all_are(rig.backend, first, Presence.LIVE)
    finally:
        rest.cluster.start_rest(rest.port)
    rig.settle(lambda: all_are(rig.backend, second, Presence.LIVE))
    assert rig.runs(first.attempt_id) == rig.runs(second.attempt_id) == 1


def test_a_token_that_slurm_does_not_take_is_the_reason_until_another_is_there(
    rest: Rest, server: RestServer, tmp_path: Path
) -> None:
    engine = SlurmEngine(SlurmSettings(server=server))
    good, file = rest.cluster.make_token(USER, HOUR_S), tmp_path / "token"
    file.write_text(good[:-4] + "AAAA")
    with pytest.raises(EngineUnavailable):
        engine.list("footplate-")
    file.write_text(good)
    assert engine.list("footplate-none-") == ()


def test_a_check_says_what_slurm_has_and_which_machines_it_lacks(server: RestServer) -> None:
    machines = {"wrong-feature": ("--constraint=no-such-thing",)}
    settings = SlurmSettings(partition=PARTITION, machines=machines, server=server)
    report = SlurmEngine(settings).check()
    assert report.problems == ()
    assert "by slurmrestd v0.0.38" in report.facts[0]
    assert any(fact.startswith("nodes: 1 ") and "GRES gpu:2" in fact for fact in report.facts)
    ask = SlurmEngine(settings).try_out
    assert ask(LauncherRequest("", "wrong-feature")) == "no node has the feature no-such-thing"
    assert (
        ask(LauncherRequest("", vcpus=4096)) == "no node that meets the other options has 4096 CPUs"
    )
    assert ask(LauncherRequest("", vcpus=2, accelerators=2)) is None

    (problem,) = SlurmEngine(replace(settings, partition="nowhere")).check().problems
    assert "'nowhere' has no nodes" in problem


def test_a_socket_needs_no_token(rest: Rest) -> None:
    with rest.cluster.rest_socket() as path:
        report = SlurmEngine(SlurmSettings(server=RestServer(f"unix:{path}", "nobody"))).check()
    assert report.reachable, report.problems
    assert any(fact.startswith("nodes: ") for fact in report.facts)


@pytest.mark.soak
def test_a_job_of_a_service_runs(serve_region: ServeRegion, server: RestServer) -> None:
    keys = (
        f'slurmrestd = "{server.url}"\ntoken_file = "{server.token_file}"\n'
        f'user = "{server.user}"\npython = "{sys.executable}"'
    )
    with serve_region(keys) as context:
        name = context.submit("import os\nprint('runs in', os.getcwd())", region=REGION)
        assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
        assert any("/launchers/" in line for line in context.messages(name))
