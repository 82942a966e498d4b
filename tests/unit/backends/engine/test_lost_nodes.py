"""When a silent node is dead: proofs end the wait, and what only looks like one doesn't.

A replica counts as gone only when nothing of it can run: ``World.check`` sees to that.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.backends.engine.engine import NodeState
from footplate.backends.engine.lost_nodes import RECORD_S, find_proof
from footplate.ports.backend import Presence
from tests.support.backend_rig import WORKERS, make_request, make_restart
from tests.support.engine_world import MARGIN_S, World
from tests.support.fake_engine import LEASE_S, UP_S, FakeLauncher
from tests.support.fence import fenced_nodes, make_fence
from tests.support.local_backend import wait_until

CHIEF, WORKER = WORKERS[:2]
REQUEST = make_request("u-1", (CHIEF, WORKER))
WAIT_S = LEASE_S + MARGIN_S
STEP_S = 5.0
SOON_S = 40.0


def run_gang(world: World) -> World:
    """A gang of two runs for so long that the states of its nodes are recorded."""
    world.start(REQUEST)
    world.turn()
    world.schedule()
    world.turn()
    world.turn()
    pass_steps(world, RECORD_S + 2 * STEP_S)
    assert presence(world) is Presence.LIVE
    return world


@pytest.fixture
def world(tmp_path: Path) -> World:
    return run_gang(World(tmp_path))


def worker_of(world: World) -> FakeLauncher:
    return world.launchers_of("u-1", WORKER)[0]


def presence(world: World, replica: str = WORKER) -> Presence:
    return world.presences("u-1")[replica]


def reason(world: World) -> str:
    return world.backend.list()[1].reason


def pass_steps(world: World, seconds: float) -> None:
    for _ in range(int(seconds / STEP_S)):
        world.turn(STEP_S)
        world.check()


def wait_for_end(world: World) -> float:
    """Returns how long the worker took to count as gone."""
    began_s = world.now_s
    while presence(world) is not Presence.GONE:
        world.turn(STEP_S)
        world.check()
        assert world.now_s - began_s < 2 * WAIT_S
    return world.now_s - began_s


def power_off(world: World) -> None:
    node = worker_of(world).node
    world.engine.nodes[node] = replace(world.engine.nodes[node], off="is powered off")


def boot(world: World) -> None:
    world.engine.boot(worker_of(world))


@pytest.mark.parametrize("happens", [power_off, boot])
def test_a_proof_ends_the_wait_at_once(world: World, happens: Callable[[World], None]) -> None:
    began_s = world.now_s
    world.engine.crash(worker_of(world))
    happens(world)
    assert wait_for_end(world) <= SOON_S
    assert presence(world, CHIEF) is Presence.LIVE
    world.start(make_restart(REQUEST, WORKER))
    for _ in range(3):
        world.turn()
        world.schedule()
    world.turn()
    world.check()
    assert presence(world) is Presence.LIVE
    assert world.now_s - began_s < 60
    assert [each.starts for each in world.launchers_of("u-1", WORKER)] == [[0], [1]]


def test_the_reason_names_the_node_and_the_proof(world: World) -> None:
    world.engine.crash(worker_of(world))
    boot(world)
    wait_for_end(world)
    assert reason(world) == f"the replica's node {worker_of(world).node} was started again"


def test_a_job_that_ended_without_its_node_is_over_with_the_proof(world: World) -> None:
    world.engine.tells_lost = True
    world.engine.crash(worker_of(world))
    world.engine.end_job("1")
    boot(world)
    assert wait_for_end(world) <= SOON_S


def test_another_server_finds_the_proof_with_what_the_first_recorded(world: World) -> None:
    world.engine.crash(worker_of(world))
    world.backend = world.make_backend()
    boot(world)
    assert wait_for_end(world) <= SOON_S


# What proves nothing: the replica may run, and does.


def test_a_node_that_only_does_not_answer_proves_nothing(world: World) -> None:
    world.engine.reach(worker_of(world), reachable=False)
    assert wait_for_end(world) > WAIT_S - STEP_S


def test_an_engine_that_does_not_answer_proves_nothing(world: World) -> None:
    world.engine.crash(worker_of(world))
    power_off(world)
    world.engine.down = True
    assert wait_for_end(world) > WAIT_S - STEP_S


def test_an_answer_on_nodes_that_cannot_be_read_holds_up_nothing_else(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.engine.reach(worker_of(world), reachable=False)
    monkeypatch.setattr(world.engine, "node_states", lambda names: names["its boot"])
    assert wait_for_end(world) > WAIT_S - STEP_S
    assert presence(world, CHIEF) is Presence.LIVE


def test_a_node_that_was_never_recorded_proves_nothing(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.start(REQUEST)
    world.turn()
    world.schedule()
    world.turn()
    world.turn()
    world.engine.reach(worker_of(world), reachable=False)
    power_off(world)
    assert wait_for_end(world) > WAIT_S - STEP_S


def start_with(world: World, boot_id: str) -> None:
    """Launchers say another id of their boot than the engine."""
    world.start(REQUEST)
    world.turn()
    world.schedule()
    for launcher in world.engine.launchers:
        launcher.boot_id = boot_id
    world.turn()
    world.turn()
    pass_steps(world, RECORD_S + 2 * STEP_S)


@pytest.mark.parametrize("boot_id", ["", "that of a virtual machine"])
def test_a_launcher_that_says_another_boot_than_the_engine_proves_nothing(
    tmp_path: Path, boot_id: str
) -> None:
    """The first is of an earlier version, the other in a sandbox with a kernel of its own."""
    world = World(tmp_path)
    start_with(world, boot_id)
    cut_off = worker_of(world)
    world.engine.reach(cut_off, reachable=False)
    node = world.engine.nodes[cut_off.node]
    world.engine.nodes[cut_off.node] = replace(node, boot_id="that of the machine")
    assert wait_for_end(world) > WAIT_S - STEP_S


def test_a_launcher_that_calls_is_alive_whatever_the_engine_says(world: World) -> None:
    power_off(world)
    pass_steps(world, WAIT_S)
    assert presence(world) is Presence.LIVE


NOW_S = 1_700_000_000.0
BEFORE = NodeState("n1", booted_s=NOW_S - 9000, daemon_started_s=NOW_S - 8990)
AFTER = NodeState("n1", booted_s=NOW_S + 40, daemon_started_s=NOW_S + 50)


def test_a_later_boot_with_a_daemon_that_was_started_again_is_a_proof() -> None:
    assert find_proof(BEFORE, AFTER, NOW_S) == "the replica's node n1 was started again"


@pytest.mark.parametrize(
    ("case", "after"),
    [
        ("nothing is new", BEFORE),
        ("the daemon alone was started again", replace(BEFORE, daemon_started_s=NOW_S)),
        ("a clock jumped", replace(AFTER, daemon_started_s=BEFORE.daemon_started_s)),
        ("a clock jumped, and the daemon is new", replace(AFTER, booted_s=BEFORE.booted_s + 3600)),
        ("a clock is set back", replace(AFTER, booted_s=BEFORE.booted_s - 3600)),
        ("the launcher has called since that boot", replace(AFTER, booted_s=NOW_S - 1)),
        ("the engine has forgotten it", NodeState("n1")),
    ],
)
def test_times_that_are_no_proof(case: str, after: NodeState) -> None:
    assert find_proof(BEFORE, after, NOW_S) is None, case


def test_a_time_of_boot_that_is_a_little_inexact_is_no_proof() -> None:
    """The engine's clock is ahead of the server's, and the daemon was started again."""
    after = replace(AFTER, booted_s=BEFORE.booted_s + 2)
    assert find_proof(BEFORE, after, BEFORE.booted_s - 30) is None


def test_a_state_from_before_the_last_call_is_no_proof(world: World) -> None:
    """The engine answers so slowly that there is no other."""
    lost_nodes, worker = world.backend._allocations._lost_nodes, worker_of(world)
    power_off(world)
    lost_nodes._wanted[worker.node] = None
    lost_nodes.ask()
    world.now_s += 1
    worker.call(world.calls, world.now_s)
    attempt = world.files.load(REQUEST.attempt_id)
    assert attempt is not None
    for _ in range(5):
        world.now_s += 10
        assert lost_nodes.find_death(attempt.id, attempt.replicas[WORKER]) is None
    lost_nodes.ask()
    assert "is powered off" in (lost_nodes.find_death(attempt.id, attempt.replicas[WORKER]) or "")


def test_a_time_of_boot_is_recorded_if_the_launcher_says_the_same(tmp_path: Path) -> None:
    """Of the first node's the engine has an old one: that isn't the boot that it runs in."""
    world = World(tmp_path)
    world.start(REQUEST)
    world.turn()
    world.schedule()
    for launcher, age_s in zip(world.engine.launchers, (9 * UP_S, UP_S), strict=True):
        booted_s = time.time() - age_s
        state = NodeState(launcher.node, booted_s=booted_s, daemon_started_s=booted_s)
        world.engine.nodes[launcher.node] = state
    world.turn()
    world.turn()
    pass_steps(world, RECORD_S + 2 * STEP_S)
    for launcher in world.engine.launchers:
        world.engine.crash(launcher)
        later_s = time.time() + 100
        later = NodeState(launcher.node, booted_s=later_s, daemon_started_s=later_s)
        world.engine.nodes[launcher.node] = later
    assert wait_for_end(world) <= SOON_S
    assert presence(world, CHIEF) is Presence.LIVE
    pass_steps(world, WAIT_S)
    assert presence(world, CHIEF) is Presence.GONE


# How long a launcher is silent.


def test_a_restart_of_the_server_does_not_restart_the_clock(world: World) -> None:
    world.engine.reach(worker_of(world), reachable=False)
    pass_steps(world, WAIT_S - 20)
    world.backend = world.make_backend()
    assert wait_for_end(world) <= 20 + 30


def test_the_time_without_a_server_is_no_silence(tmp_path: Path) -> None:
    """Within the launcher's lease it calls again, and its replica has run all the time."""
    world = run_gang(World(tmp_path, node_lost_s=40.0, voids_keys=True))
    world.engine.reach(worker_of(world), reachable=False)
    pass_steps(world, 30)
    world.now_s += 20
    world.backend = world.make_backend()
    world.backend.turn()
    assert presence(world) is Presence.LIVE
    world.engine.reach(worker_of(world), reachable=True)
    pass_steps(world, 60)
    assert presence(world) is Presence.LIVE


def test_the_time_in_which_the_server_stands_still_is_no_silence(world: World) -> None:
    world.now_s += 1000
    world.backend.turn()
    assert presence(world) is Presence.LIVE


def test_a_launcher_that_called_after_a_silence_has_its_whole_time_again(world: World) -> None:
    worker = worker_of(world)
    world.engine.reach(worker, reachable=False)
    pass_steps(world, WAIT_S / 2)
    worker.reachable, worker.answered_s = True, world.now_s
    world.turn()
    world.engine.reach(worker, reachable=False)
    world.backend = world.make_backend()
    assert wait_for_end(world) > WAIT_S - STEP_S


def test_a_suspended_launcher_is_not_silent_for_the_next_server_either(world: World) -> None:
    world.engine.reach(worker_of(world), reachable=False)
    pass_steps(world, WAIT_S - 20)
    running = world.engine.jobs["1"]
    world.engine.jobs["1"] = replace(running, suspended=True)
    world.turn()
    world.engine.jobs["1"] = running
    world.backend = world.make_backend()
    assert wait_for_end(world) > WAIT_S - STEP_S


# A node that is lost without a proof.


def test_where_keys_are_void_a_lost_node_needs_no_proof(tmp_path: Path) -> None:
    world = World(tmp_path, node_lost_s=40.0, voids_keys=True)
    run_gang(world)
    away = worker_of(world)
    world.engine.reach(away, reachable=False)
    began_s = world.now_s
    while presence(world) is not Presence.GONE:
        world.turn(STEP_S)
    assert 40.0 < world.now_s - began_s <= 40.0 + 2 * STEP_S
    assert away.live
    world.start(make_restart(REQUEST, WORKER))
    world.turn()
    world.schedule()
    world.turn()
    world.turn()
    assert presence(world) is Presence.LIVE
    world.engine.reach(away, reachable=True)
    away.answered_s = world.now_s
    world.turn()
    assert (away.left, away.starts) == (True, [0])
    world.check()


def test_a_longer_time_than_the_lease_is_waited_for(tmp_path: Path) -> None:
    world = run_gang(World(tmp_path, node_lost_s=WAIT_S + 60))
    world.engine.reach(worker_of(world), reachable=False)
    assert wait_for_end(world) > WAIT_S + 60 - STEP_S


# The administrator's command.


def let_fence_run(world: World, folder: Path) -> None:
    """The command ends in real time, in which no other passes."""
    fence = world.backend._allocations._lost_nodes._fence
    while fence is None or not fence.is_running:
        world.turn(STEP_S)
    wait_until(lambda: fenced_nodes(folder) != [])
    time.sleep(0.1)


def test_a_node_that_was_fenced_is_dead(tmp_path: Path) -> None:
    world = run_gang(World(tmp_path, fence=make_fence(tmp_path)))
    worker, began_s = worker_of(world), world.now_s
    world.engine.crash(worker)
    let_fence_run(world, tmp_path)
    wait_for_end(world)
    assert world.now_s - began_s < 60
    assert fenced_nodes(tmp_path) == [worker.node]
    assert (
        reason(world) == f"the region's fence command has fenced the replica's node {worker.node}"
    )
    world.backend.close()


def test_a_fence_that_fails_proves_nothing(tmp_path: Path) -> None:
    world = run_gang(World(tmp_path, fence=make_fence(tmp_path, "exit 1"), node_lost_s=40.0))
    world.engine.reach(worker_of(world), reachable=False)
    assert wait_for_end(world) > WAIT_S - STEP_S
    assert fenced_nodes(tmp_path)
    world.backend.close()


def test_a_node_that_answers_the_engine_is_not_fenced(tmp_path: Path) -> None:
    """Its launcher can't reach this server, or hangs."""
    world = run_gang(World(tmp_path, fence=make_fence(tmp_path)))
    worker_of(world).kill()
    assert wait_for_end(world) > WAIT_S - STEP_S
    assert fenced_nodes(tmp_path) == []


def test_a_launcher_that_calls_after_its_node_was_fenced_is_alive(tmp_path: Path) -> None:
    world = run_gang(World(tmp_path, fence=make_fence(tmp_path)))
    worker = worker_of(world)
    world.engine.reach(worker, reachable=False)
    let_fence_run(world, tmp_path)
    world.engine.reach(worker, reachable=True)
    pass_steps(world, WAIT_S)
    assert presence(world) is Presence.LIVE
    world.backend.close()
