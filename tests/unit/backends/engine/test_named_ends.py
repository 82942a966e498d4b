"""What an engine says of its jobs reaches their replicas: ends, suspension, last words, limits."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from footplate.backends.engine.allocations import LIMIT_SLACK_S
from footplate.backends.engine.engine import EngineJob, EngineUnavailable
from footplate.ports.backend import EndCause, Presence, ReplicaObservation
from tests.support.backend_rig import WORKERS, make_request, make_restart
from tests.support.engine_world import MARGIN_S, World
from tests.support.fake_engine import LEASE_S

REQUEST, JOB = make_request("u-1"), "1"
FROZEN = "Slurm has suspended the job"


@pytest.fixture
def world(tmp_path: Path) -> World:
    """One replica runs."""
    world = World(tmp_path)
    world.start(REQUEST)
    world.turn()
    world.schedule()
    for _ in range(3):
        world.turn()
    assert seen(world).presence is Presence.LIVE
    return world


def seen(world: World) -> ReplicaObservation:
    [found] = world.backend.list()
    return found


@pytest.mark.parametrize("cause", EndCause)
def test_the_engines_word_is_the_end_of_a_replica(world: World, cause: EndCause) -> None:
    world.engine.end_job(JOB, cause)
    world.turn()
    world.turn()
    assert (seen(world).presence, seen(world).cause) == (Presence.GONE, cause)


def test_a_preempted_start_that_waits_moves_to_another_job(world: World) -> None:
    [launcher] = world.engine.launchers
    launcher.exit()
    world.turn()
    launcher.reachable = False
    world.start(make_restart(REQUEST, WORKERS[0]))
    world.engine.end_job(JOB, EndCause.PREEMPTED)
    for _ in range(3):
        world.turn()
    assert (seen(world).presence, seen(world).restart) == (Presence.WAITING, 1)
    assert list(world.engine.jobs) == [JOB, "2"]


@pytest.mark.parametrize("forgets", [False, True])
@pytest.mark.parametrize("cause", EndCause)
def test_the_engines_word_counts_also_where_a_node_was_away(
    world: World,
    cause: EndCause,
    forgets: bool,  # noqa: FBT001  a parameter
) -> None:
    """Engines forget ended jobs, often before the launcher on that node is taken for dead."""
    world.engine.launchers[0].reachable = False
    world.engine.words[JOB] = "by ada"
    world.engine.end_job(JOB, cause)
    world.turn()
    if forgets:
        world.engine.forgotten.add(JOB)
        world.backend = world.make_backend()
    world.turn()
    assert seen(world).presence is Presence.LIVE
    for _ in range(2):  # another server counts from its first look
        world.turn(LEASE_S + MARGIN_S)
    assert (seen(world).presence, seen(world).cause) == (Presence.GONE, cause)
    assert "by ada; " in seen(world).reason


def test_a_server_that_finds_the_end_and_the_silence_at_once_counts_the_end(world: World) -> None:
    world.engine.launchers[0].reachable = False
    world.turn(LEASE_S)
    world.pass_time(LEASE_S)
    world.engine.end_job(JOB, EndCause.CANCELLED)
    world.turn()
    assert (seen(world).presence, seen(world).cause) == (Presence.GONE, EndCause.CANCELLED)


def freeze(world: World, *, frozen: bool) -> None:
    """Frozen launchers don't call, and don't look at their clocks."""
    job = world.engine.jobs[JOB]
    reason = FROZEN if frozen else ""
    world.engine.jobs[JOB] = replace(job, suspended=frozen, reason=reason)
    world.engine.launchers[0].frozen = frozen


def test_a_suspended_replica_is_not_taken_for_dead(world: World) -> None:
    freeze(world, frozen=True)
    for _ in range(3):
        world.turn(LEASE_S + MARGIN_S)
    assert (seen(world).presence, seen(world).reason) == (Presence.LIVE, FROZEN)
    freeze(world, frozen=False)
    world.turn()
    assert (seen(world).presence, seen(world).reason) == (Presence.LIVE, "")


def test_a_launcher_that_stays_silent_after_its_job_was_resumed_counts_as_dead(
    world: World,
) -> None:
    freeze(world, frozen=True)
    world.turn(LEASE_S + MARGIN_S)
    freeze(world, frozen=False)
    world.engine.launchers[0].reachable = False
    world.turn(LEASE_S)
    assert seen(world).presence is Presence.LIVE
    world.turn(LEASE_S)
    assert seen(world).presence is Presence.GONE


def test_a_job_that_fails_is_told_with_its_last_words(world: World) -> None:
    world.engine.words[JOB] = "python3.99: No such file or directory"
    world.engine.launchers[0].kill()
    world.engine.end_job(JOB)
    world.turn()
    assert seen(world).reason == "it failed: python3.99: No such file or directory"


def test_an_engine_that_has_no_last_words_delays_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(job: EngineJob) -> EngineJob:
        raise EngineUnavailable(f"no word of {job.id}")

    monkeypatch.setattr(world.engine, "explain", fail)
    world.engine.launchers[0].kill()
    world.engine.end_job(JOB)
    world.turn()
    assert (seen(world).presence, seen(world).reason) == (Presence.GONE, "it failed")


@pytest.mark.parametrize(("run_limit_s", "limit_s"), [(0.0, 0.0), (600.0, 600.0 + LIMIT_SLACK_S)])
def test_the_engine_gets_the_jobs_limit_with_time_to_spare(
    tmp_path: Path, run_limit_s: float, limit_s: float
) -> None:
    world = World(tmp_path)
    world.start(replace(REQUEST, run_limit_s=run_limit_s))
    world.backend = world.make_backend()  # a server that has only the files
    world.turn()
    assert world.engine.limits == {JOB: limit_s}
