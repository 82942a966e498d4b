"""Attempts that only wait or run aren't read at each look, and nothing of them is missed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from footplate.backends.engine.attempt import Attempt
from footplate.domain.names import AttemptId
from footplate.ports.backend import AttemptStart, Presence, Ticket
from tests.support.engine_world import MARGIN_S, World
from tests.support.fake_engine import LEASE_S

ATTEMPT, REPLICA = AttemptId("u-1"), "master-replica-0"


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World(tmp_path)
    world.start(AttemptStart(ATTEMPT, (Ticket(REPLICA, "token"),)))
    for _ in range(3):
        world.turn()
    return world


@pytest.fixture
def running(world: World) -> World:
    world.schedule()
    for _ in range(4):
        world.turn()
    assert see(world) == (Presence.LIVE, "")
    return world


def see(world: World) -> tuple[Presence, str]:
    (seen,) = world.backend.list()
    return seen.presence, seen.reason


def count_loads(world: World, monkeypatch: pytest.MonkeyPatch) -> list[AttemptId]:
    loaded, load = [], world.files.load

    def count(attempt_id: AttemptId, only: str | None = None) -> Attempt | None:
        if only is None:  # a launcher's call reads its replica
            loaded.append(attempt_id)
        return load(attempt_id, only)

    monkeypatch.setattr(world.files, "load", count)
    return loaded


def test_attempts_that_only_wait_are_not_read(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = count_loads(world, monkeypatch)
    world.turn()
    assert loaded == []
    reason = "waits behind others"
    world.engine.jobs["1"] = replace(world.engine.jobs["1"], reason=reason)
    world.turn()
    assert loaded
    assert see(world) == (Presence.WAITING, reason)
    world.turn()
    world.turn()
    world.turn()
    world.backend.stop(ATTEMPT)
    world.turn()
    assert see(world)[0] is Presence.GONE


def test_attempts_whose_launchers_call_are_not_read(
    running: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded = count_loads(running, monkeypatch)
    for _ in range(100):
        running.turn()
    assert loaded == [ATTEMPT], "once, when the state of its node was recorded"


def test_a_running_attempt_is_read_once_its_launcher_is_silent(running: World) -> None:
    running.engine.reach(running.engine.launchers[0], reachable=False)
    silent_s, step_s = 0.0, 5.0
    while see(running)[0] is Presence.LIVE:
        running.turn(step_s)
        silent_s += step_s
    assert LEASE_S + MARGIN_S < silent_s <= LEASE_S + MARGIN_S + 2 * step_s
    assert not running.engine.launchers[0].live


def test_the_end_of_a_running_attempt_is_found_at_the_next_look(running: World) -> None:
    running.engine.launchers[0].exit()
    running.turn()
    assert see(running)[0] is Presence.GONE


def test_a_suspended_attempt_is_read(running: World, monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = count_loads(running, monkeypatch)
    running.engine.jobs["1"] = replace(running.engine.jobs["1"], suspended=True)
    for count in range(1, 4):
        running.turn()
        assert loaded.count(ATTEMPT) >= count
