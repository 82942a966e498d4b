"""A launcher that dies between two starts of its replica: the next start runs elsewhere, once.

The engine says so before or after the restart is asked for, or never. A start that no launcher had
is never counted as one that ran.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.backends.engine.attempt import Replica
from footplate.backends.engine.engine import EngineTask, JobPhase
from footplate.backends.engine.start_ends import ALONE_S
from footplate.ports.backend import EndCause, Presence
from tests.support.backend_rig import WORKERS, make_request, make_restart
from tests.support.engine_world import MARGIN_S, World
from tests.support.fake_engine import LEASE_S, FakeLauncher

CHIEF, WORKER = WORKERS[:2]
REQUEST = make_request("u-1", (CHIEF, WORKER))
AGAIN = make_restart(REQUEST, WORKER)
JOB = "1"
NODE_AWAY = EngineTask(stuck=True, reason="its node does not answer")


def say_of_task(task: EngineTask) -> Callable[[World], None]:
    return lambda world: world.engine.say(dead_launcher(world), task)


def end_the_job(world: World) -> None:
    world.engine.end_job(JOB)


def change_the_job(**changes: object) -> Callable[[World], None]:
    def change(world: World) -> None:
        world.engine.jobs[JOB] = replace(world.engine.jobs[JOB], **changes)  # type: ignore[arg-type]  # by name

    return change


WORDS = {
    "its task has ended": say_of_task(EngineTask(ended=True, reason="killed")),
    "its node is away": say_of_task(NODE_AWAY),
    "the job has ended": end_the_job,
    "the job has ended, a node of it was away": change_the_job(phase=JobPhase.ENDED, lost=True),
}


@pytest.fixture
def world(tmp_path: Path) -> World:
    """With a gang of two that runs."""
    world = World(tmp_path)
    world.start(REQUEST)
    world.turn()
    run_jobs(world)
    assert set(world.presences("u-1").values()) == {Presence.LIVE}
    return world


def run_jobs(world: World) -> None:
    """Jobs that wait start, and their launchers get what is wanted of them."""
    world.schedule()
    world.turn()
    world.turn()


def dead_launcher(world: World) -> FakeLauncher:
    return world.launchers_of("u-1", WORKER)[0]


def worker_of(world: World) -> Replica:
    attempt = world.files.load(REQUEST.attempt_id)
    assert attempt is not None
    return attempt.replicas[WORKER]


def lose_the_replica(world: World) -> None:
    """Its supervisor dies; its launcher says so, and dies as well."""
    dead_launcher(world).exit()
    world.turn()
    assert world.presences("u-1")[WORKER] is Presence.GONE
    dead_launcher(world).kill()


def expect_it_runs_elsewhere(world: World) -> None:
    """The restart has never been seen to be gone before it runs."""
    for _ in range(3):
        world.turn()
        world.check()
        assert world.presences("u-1")[WORKER] is Presence.WAITING
    run_jobs(world)
    world.check()
    assert world.presences("u-1")[WORKER] is Presence.LIVE
    _, second = world.launchers_of("u-1", WORKER)
    assert (dead_launcher(world).starts, second.starts) == ([0], [1])


@pytest.mark.parametrize(
    "say", [*WORDS.values(), change_the_job(ending=True)], ids=[*WORDS, "the job is ending"]
)
def test_a_launcher_of_which_the_engine_has_said_that_it_ended_gets_no_start(
    world: World, say: Callable[[World], None]
) -> None:
    """However short ago it called."""
    lose_the_replica(world)
    say(world)
    world.turn()
    world.start(AGAIN)
    assert worker_of(world).allocation == 1
    expect_it_runs_elsewhere(world)


def test_a_launcher_that_was_killed_with_its_replica_gets_no_start(world: World) -> None:
    """Its last report is that the replica is live."""
    dead_launcher(world).kill()
    WORDS["its task has ended"](world)
    world.turn()
    assert world.presences("u-1") == {CHIEF: Presence.LIVE, WORKER: Presence.GONE}
    world.start(AGAIN)
    expect_it_runs_elsewhere(world)
    assert world.presences("u-1")[CHIEF] is Presence.LIVE


@pytest.mark.parametrize("say", WORDS.values(), ids=WORDS)
def test_a_start_that_no_launcher_took_moves_when_the_engine_says_so(
    world: World, say: Callable[[World], None]
) -> None:
    lose_the_replica(world)
    world.start(AGAIN)
    assert worker_of(world).allocation == 0
    world.turn()
    say(world)
    expect_it_runs_elsewhere(world)


@pytest.mark.parametrize("say", WORDS.values(), ids=WORDS)
def test_it_moves_when_an_engine_answers_again_to_another_server(
    world: World, say: Callable[[World], None]
) -> None:
    lose_the_replica(world)
    say(world)
    world.engine.down = True
    world.backend = world.make_backend()
    world.start(AGAIN)
    assert worker_of(world).allocation == 0
    world.turn()
    world.engine.down = False
    expect_it_runs_elsewhere(world)


def test_it_moves_when_its_launcher_has_said_that_it_ends(world: World) -> None:
    """And the engine lets the job run."""
    launcher = dead_launcher(world)
    launcher.exit()
    world.turn()
    launcher.ending, launcher.left = "signal 15", True
    world.start(AGAIN)
    world.calls.exchange(launcher.token, launcher.report())
    world.turn()
    assert worker_of(world).allocation == 0, "the engine may end the job, and say why"
    world.turn(ALONE_S)
    expect_it_runs_elsewhere(world)


def test_it_moves_when_the_lease_of_its_launcher_is_over(world: World) -> None:
    lose_the_replica(world)
    world.start(AGAIN)
    world.turn(LEASE_S)
    assert worker_of(world).allocation == 0
    world.turn(MARGIN_S)
    expect_it_runs_elsewhere(world)


def test_it_moves_when_the_engine_has_forgotten_its_job(world: World) -> None:
    lose_the_replica(world)
    world.start(AGAIN)
    world.engine.forgotten = {JOB}
    world.turn()
    world.turn(LEASE_S + MARGIN_S + 1)
    expect_it_runs_elsewhere(world)


def test_a_launcher_that_was_given_up_and_calls_again_starts_nothing(world: World) -> None:
    launcher = dead_launcher(world)
    launcher.exit()
    world.turn()
    launcher.reachable = False
    world.start(AGAIN)
    world.engine.say(launcher, NODE_AWAY)
    world.turn()
    assert worker_of(world).allocation == 1
    launcher.reachable = True
    world.turn()
    assert (launcher.left, launcher.starts) == (True, [0])
    expect_it_runs_elsewhere(world)


@pytest.mark.parametrize("task", [None, EngineTask(ended=True, cause=EndCause.CANCELLED)])
def test_who_ends_it_in_the_engine_means_the_start_that_waits_too(
    world: World, task: EngineTask | None
) -> None:
    lose_the_replica(world)
    world.start(AGAIN)
    if task is None:
        world.engine.end_job(JOB, EndCause.CANCELLED)
    else:
        world.engine.say(dead_launcher(world), task)
    world.turn()
    [_, seen] = world.backend.list()
    assert (seen.presence, seen.restart, seen.cause) == (Presence.GONE, 1, EndCause.CANCELLED)
    assert list(world.engine.jobs) == [JOB]


def test_a_stopped_start_does_not_move(world: World) -> None:
    lose_the_replica(world)
    world.start(AGAIN)
    world.backend.stop(REQUEST.attempt_id, {WORKER: 1})
    WORDS["its task has ended"](world)
    world.turn()
    assert world.presences("u-1")[WORKER] is Presence.GONE
    assert list(world.engine.jobs) == [JOB]


def test_a_start_that_its_launcher_had_counts(world: World) -> None:
    dead_launcher(world).exit()
    world.turn()
    world.start(AGAIN)
    world.turn()
    assert dead_launcher(world).starts == [0, 1]
    dead_launcher(world).kill()
    WORDS["its task has ended"](world)
    world.turn()
    assert world.presences("u-1")[WORKER] is Presence.GONE
    assert list(world.engine.jobs) == [JOB]


def test_a_start_whose_own_job_fails_before_its_launcher_calls_counts(world: World) -> None:
    """It would fail in one job after the other, for ever."""
    lose_the_replica(world)
    world.start(AGAIN)
    WORDS["its task has ended"](world)
    world.turn()
    world.turn()
    world.engine.end_job("2")
    world.turn()
    assert world.presences("u-1")[WORKER] is Presence.GONE
    assert list(world.engine.jobs) == [JOB, "2"]


def test_a_start_that_moved_is_stopped_while_its_new_job_waits(world: World) -> None:
    lose_the_replica(world)
    world.start(AGAIN)
    WORDS["its task has ended"](world)
    world.turn()
    world.turn()
    world.backend.stop(REQUEST.attempt_id, {WORKER: 1})
    assert world.presences("u-1")[WORKER] is Presence.GONE
    world.turn()
    assert world.engine.jobs["2"].phase is JobPhase.ENDED
