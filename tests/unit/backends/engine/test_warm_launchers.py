"""A launcher whose replica has ended waits in its engine's job for one of another attempt."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.backends.engine.engine import EngineJob, JobPhase, NodeState
from footplate.backends.engine.warm_allocations import DRAIN_LOOK_S, TAKEN_S
from footplate.backends.engine.warm_launchers import (
    TIME_SLACK_S,
    WarmLauncher,
    WarmSettings,
    choose,
    find_kind,
)
from footplate.ports.backend import AttemptStart, EndCause, Presence, ReplicaMachine, Ticket
from tests.support.backend_rig import WORKERS, make_request, make_restart
from tests.support.engine_world import REGION, World

KEEP_S = 60.0
CHIEF = WORKERS[0]
FIRST = replace(make_request("u-1"), project="p", run_limit_s=3600.0)
NEXT = replace(make_request("u-2"), project="p", run_limit_s=3600.0)


def make_world(folder: Path, **settings: Any) -> World:
    return World(folder, warm=WarmSettings(KEEP_S, "1", **settings))


@pytest.fixture
def world(tmp_path: Path) -> World:
    """The launcher of a first attempt, which has ended, waits in job 1."""
    return wait_after(make_world(tmp_path))


def wait_after(world: World) -> World:
    world.start(FIRST)
    world.turn()
    world.schedule()
    world.turn()
    world.turn()
    end(world, FIRST)
    assert [each.job for each in waiting(world)] == ["1"]
    return world


def end(world: World, request: AttemptStart) -> None:
    [launcher] = world.launchers_of(request.attempt_id, CHIEF)
    launcher.exit()
    world.turn()
    assert world.presences(request.attempt_id) == {CHIEF: Presence.GONE}
    world.backend.forget(request.attempt_id)
    del world.requests[request.attempt_id]
    world.turn()


def waiting(world: World) -> tuple[WarmLauncher, ...]:
    return world.calls.warm[REGION].waiting()


def run(world: World, turns: int = 3) -> None:
    for _ in range(turns):
        world.turn()
        world.check()


def run_elsewhere(world: World) -> None:
    """The next attempt gets a job of its own, and runs there."""
    run(world, 2)
    world.turn(TAKEN_S)
    run(world, 2)
    world.schedule()
    run(world)
    assert world.presences("u-2") == {CHIEF: Presence.LIVE}
    assert world.engine.requests[-1].name.endswith("u-2.1")


def phase(world: World, job: str = "1") -> JobPhase:
    return world.engine.jobs[job].phase


def test_it_runs_the_next_attempt_and_the_one_after_that(world: World) -> None:
    for name in ("u-2", "u-3"):
        request = replace(NEXT, attempt_id=make_request(name).attempt_id, tickets=NEXT.tickets)
        world.start(request)
        run(world)
        assert world.presences(name) == {CHIEF: Presence.LIVE}
        [seen] = world.backend.list()
        assert (seen.engine_id, seen.node) == ("1", f"node-1-{CHIEF}")
        end(world, request)
    assert list(world.engine.jobs) == ["1"]


@pytest.mark.parametrize("anew", [False, True])
def test_its_job_is_nobodys_orphan_while_it_serves_another_attempt(
    world: World,
    anew: bool,  # noqa: FBT001
) -> None:
    world.start(NEXT)
    run(world)
    if anew:
        world.restart_server()
    for _ in range(20):
        world.turn(10.0)
    assert world.presences("u-2") == {CHIEF: Presence.LIVE}


def test_a_replica_that_it_serves_restarts_in_place(world: World) -> None:
    world.start(NEXT)
    run(world)
    [launcher] = world.launchers_of("u-2", CHIEF)
    launcher.exit()
    run(world)
    world.start(make_restart(NEXT, CHIEF))
    run(world)
    assert (launcher.starts, list(world.engine.jobs)) == ([0, 1], ["1"])


@pytest.mark.parametrize(
    "changes",
    [
        {"project": "another"},
        {"run_limit_s": 7200.0},
        {"labels": {"footplate-slurm-account": "physics"}},
        {"tickets": (Ticket(CHIEF, "t", image="an/image"),)},
        {"tickets": (Ticket(CHIEF, "t", machine=ReplicaMachine("n1-standard-8", 8)),)},
        {"tickets": tuple(Ticket(name, "t") for name in WORKERS)},
    ],
)
def test_what_differs_gets_a_job_of_its_own(world: World, changes: dict[str, Any]) -> None:
    world.start(replace(NEXT, **changes))
    run(world, 1)
    assert [request.name[-5:] for request in world.engine.requests] == ["u-1.0", "u-2.0"]


def test_labels_of_users_make_no_difference(world: World) -> None:
    world.start(replace(NEXT, labels={"owner": "me"}))
    run(world)
    assert list(world.engine.jobs) == ["1"]


def test_one_that_nobody_needs_leaves_after_a_while(world: World) -> None:
    for _ in range(4):
        world.turn(20.0)
    assert not waiting(world)
    assert phase(world) is JobPhase.ENDED


def test_launchers_of_gangs_leave(tmp_path: Path) -> None:
    world = make_world(tmp_path)
    gang = make_request("u-1", WORKERS)
    world.start(gang)
    world.turn()
    world.schedule()
    run(world)
    for launcher in world.engine.launchers:
        launcher.exit()
    world.turn()
    world.backend.forget(gang.attempt_id)
    world.turn()
    assert phase(world) is JobPhase.ENDED


# What is lost between two replicas is no end of the next one.


@pytest.mark.parametrize("cause", list(EndCause))
def test_the_end_of_its_job_before_it_was_called_costs_no_start(
    world: World, cause: EndCause
) -> None:
    world.start(NEXT)
    world.engine.end_job("1", cause)
    run_elsewhere(world)


def test_one_that_is_cut_off_is_not_waited_for(world: World) -> None:
    [launcher] = world.engine.launchers[-1:]
    world.engine.reach(launcher, reachable=False)
    world.start(NEXT)
    run_elsewhere(world)
    world.engine.reach(launcher, reachable=True)
    run(world, 4)
    assert launcher.starts == []


def test_a_server_that_dies_before_it_calls_leaves_a_start_that_moves(world: World) -> None:
    """The next one knows nothing of the launcher but its call."""
    [launcher] = world.engine.launchers[-1:]
    world.engine.reach(launcher, reachable=False)
    world.start(NEXT)
    world.restart_server()
    world.engine.reach(launcher, reachable=True)
    run_elsewhere(world)


def test_a_server_that_dies_before_it_has_written_anything_is_asked_again(world: World) -> None:
    world.restart_server()
    world.start(NEXT)  # the launcher hasn't called the new server yet
    run(world, 1)
    world.schedule()
    run(world)
    assert world.presences("u-2") == {CHIEF: Presence.LIVE}
    assert world.engine.requests[-1].name.endswith("u-2.0")
    assert [each.job for each in waiting(world)] == ["1"]


def test_a_later_server_gives_it_a_replica_when_it_has_called(world: World) -> None:
    world.restart_server()
    run(world)
    world.start(NEXT)
    run(world)
    assert world.presences("u-2") == {CHIEF: Presence.LIVE}
    assert list(world.engine.jobs) == ["1"]


def test_an_answer_that_was_lost_is_given_again(world: World) -> None:
    """The launcher calls once more as one that waits, or died just then."""
    [launcher] = world.engine.launchers[-1:]
    world.start(NEXT)
    answers = [world.calls.exchange(launcher.token, launcher.report()) for _ in range(2)]
    assert answers[0].serve
    assert answers[0] == answers[1]


def test_an_attempt_that_is_stopped_before_it_calls_never_runs(world: World) -> None:
    world.start(NEXT)
    world.backend.stop(NEXT.attempt_id)
    run(world, 4)
    assert world.presences("u-2") == {CHIEF: Presence.GONE}
    assert list(world.engine.jobs) == ["1"]
    world.backend.forget(NEXT.attempt_id)
    del world.requests["u-2"]
    run(world)
    assert [each.job for each in waiting(world)] == ["1"]


def test_a_start_is_moved_only_when_its_launcher_had_time(world: World) -> None:
    world.engine.reach(world.engine.launchers[-1], reachable=False)
    world.start(NEXT)
    world.turn(1.0)
    world.turn(TAKEN_S - 1.0)
    assert len(world.engine.requests) == 1
    world.turn(1.0)
    run(world, 1)
    assert len(world.engine.requests) == 2


# What gives jobs back.


def expect_leaving(world: World) -> None:
    assert not waiting(world)
    run(world)
    assert phase(world) is JobPhase.ENDED


def test_a_changed_setting_or_another_version_lets_it_leave(world: World) -> None:
    world.warm = WarmSettings(KEEP_S, "2")
    world.restart_server()
    run(world)
    expect_leaving(world)


def test_a_region_that_keeps_none_any_more_lets_it_leave(world: World) -> None:
    world.warm = None
    world.restart_server()
    run(world, 3)
    assert phase(world) is JobPhase.ENDED


def test_a_job_of_ours_that_waits_in_the_engine_comes_first(world: World) -> None:
    world.start(replace(NEXT, project="another"))
    run(world, 2)
    assert waiting(world)  # the engine may have had no time yet
    run(world, 1)
    expect_leaving(world)


def test_a_node_that_is_to_be_emptied_is_left(world: World) -> None:
    node = f"node-1-{CHIEF}"
    world.engine.nodes[node] = NodeState(node, draining=True)
    world.turn(DRAIN_LOOK_S)
    expect_leaving(world)


@pytest.mark.parametrize(("most", "expected"), [(0, ["1"]), (2, ["1"]), (1, [])])
def test_it_counts_among_the_replicas_of_a_region(
    tmp_path: Path, most: int, expected: list[str]
) -> None:
    world = wait_after(make_world(tmp_path, max_replicas=most))
    world.start(replace(NEXT, project="another"))
    assert [each.job for each in waiting(world)] == expected


# Which of them takes a start: pure.

NOW_S = 1e6


def make_job(left_s: float, whole_s: float = 10_000.0, **changes: Any) -> EngineJob:
    job = EngineJob("7", "ours", JobPhase.RUNNING, started_s=NOW_S + left_s - whole_s)
    return replace(job, **{"ends_s": NOW_S + left_s, **changes})


@pytest.mark.parametrize(
    ("run_limit_s", "job", "is_taken"),
    [
        (600.0, make_job(600.0 + TIME_SLACK_S), True),
        (600.0, make_job(599.0 + TIME_SLACK_S), False),
        (9_500.0, make_job(9_001.0), True),  # its partition has less for it, anyway
        (0.0, make_job(9_001.0), True),
        (0.0, make_job(9_001.0, ends_s=float("inf")), True),
        (600.0, make_job(9_001.0, ends_s=float("inf")), True),
        (0.0, make_job(8_999.0), False),
        (600.0, make_job(9_000.0, ending=True), False),
        (600.0, make_job(9_000.0, suspended=True), False),
        (600.0, make_job(9_000.0, phase=JobPhase.ENDED), False),
        (600.0, EngineJob("7", "ours", JobPhase.RUNNING), False),  # of unknown length
        (600.0, EngineJob("8", "ours", JobPhase.RUNNING), False),
    ],
)
def test_a_job_is_taken_that_has_time_for_it(
    run_limit_s: float,
    job: EngineJob,
    is_taken: bool,  # noqa: FBT001
) -> None:
    one = WarmLauncher("7", "a kind", "x", "n1", 0.0)
    found = choose([one], "a kind", run_limit_s, {job.id: job}, NOW_S)
    assert found == (one if is_taken else None)


def test_the_last_one_that_came_is_taken_of_the_same_kind() -> None:
    jobs = {name: replace(make_job(9_000.0), id=name) for name in ("1", "2", "3")}
    waiting = [
        WarmLauncher("1", "a kind", "x", "n1", 1.0),
        WarmLauncher("2", "a kind", "y", "n2", 2.0),
        WarmLauncher("3", "another", "z", "n3", 3.0),
    ]
    assert choose(waiting, "a kind", 600.0, jobs, NOW_S) == waiting[1]
    assert choose(waiting, "no such kind", 600.0, jobs, NOW_S) is None


def test_a_kind_says_nothing_of_its_attempt() -> None:
    tickets = [{"replica": name, "token": name, "machine": {"vcpus": 8}} for name in WORKERS]
    kinds = {find_kind("1", "p", 60.0, {"owner": "me"}, ticket) for ticket in tickets}
    assert len(kinds) == 1
    assert find_kind("2", "p", 60.0, {}, tickets[0]) not in kinds
