"""Whatever an engine answers: nothing is started twice, counted as gone while it runs, or lost."""

from __future__ import annotations

import itertools
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
)
from hypothesis.stateful import run_state_machine_as_test as run_machine

from footplate.backends.engine.engine import EngineTask, JobPhase
from footplate.backends.engine.warm_launchers import WarmSettings
from footplate.ports.backend import EndCause, Presence
from tests.support.backend_rig import make_request, make_restart
from tests.support.engine_world import World
from tests.support.profiles import scaled

STEP_S = 10.0
KEEP_S = 100.0
REPLICAS = ("master-replica-0", "worker-replica-0")
MACHINE = settings(
    max_examples=scaled(8),
    stateful_step_count=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


class HalfAnswers(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.world = World(self.folder, warm=WarmSettings(KEEP_S, "1"))
        self.numbers = itertools.count(1)

    @initialize(loses=st.booleans(), hides=st.booleans(), tells=st.booleans(), waits=st.booleans())
    def start_a_gang(self, loses: bool, hides: bool, tells: bool, waits: bool) -> None:  # noqa: FBT001
        """It runs in each course: most of what can go wrong begins there.

        Beside it the launcher of an earlier attempt may wait for another one.
        """
        if waits:
            self.start(1)
            self.run_all()
            self.forget_what_is_gone(ends=True)
        self.world.engine.loses_answer, self.world.engine.tells_lost = loses, tells
        self.start(2)
        self.world.turn(STEP_S)
        if hides:
            self.world.engine.hidden = set(self.world.engine.jobs)
        self.run_all()

    @rule(size=st.integers(1, 2))
    @precondition(lambda self: len(self.world.requests) < 3)
    def start(self, size: int) -> None:
        self.world.start(make_request(f"u-{next(self.numbers)}", REPLICAS[:size]))

    @rule()
    def start_again(self) -> None:
        for request in self.world.requests.values():
            self.world.backend.start(request)

    @rule(data=st.data())
    @precondition(lambda self: self.world.requests)
    def restart_what_is_gone(self, data: st.DataObject) -> None:
        self._restart(data.draw(st.sampled_from(sorted(self.world.requests))))

    def _restart(self, attempt_id: str) -> None:
        world = self.world
        seen = world.presences(attempt_id)
        request = world.requests[attempt_id]
        for ticket in request.tickets:
            if seen[ticket.replica] is Presence.GONE and attempt_id not in world.stopped:
                request = make_restart(request, ticket.replica, ticket.restart + 1)
        world.start(request)

    @rule(data=st.data())
    @precondition(lambda self: self.world.requests)
    def stop(self, data: st.DataObject) -> None:
        attempt_id = data.draw(st.sampled_from(sorted(self.world.requests)))
        self.world.stopped.add(attempt_id)
        self.world.backend.stop(self.world.requests[attempt_id].attempt_id)

    @rule(steps=st.integers(1, 4))
    def turn(self, steps: int) -> None:
        """What waits goes on waiting."""
        for _ in range(steps):
            self.world.turn(STEP_S)

    @rule()
    def run_all(self) -> None:
        for _ in range(3):
            self.world.schedule()
            self.world.turn(STEP_S)

    @rule(down=st.booleans())
    def go_down_or_come_back(self, down: bool) -> None:  # noqa: FBT001
        self.world.engine.down = down

    @rule()
    def lose_the_next_answer(self) -> None:
        self.world.engine.loses_answer = True

    @rule(refuses=st.sampled_from(("", "no such partition")))
    def refuse(self, refuses: str) -> None:
        self.world.engine.refuses = refuses

    @rule(data=st.data())
    @precondition(lambda self: self.world.engine.jobs)
    def list_a_part(self, data: st.DataObject) -> None:
        jobs = st.sets(st.sampled_from(sorted(self.world.engine.jobs)))
        self.world.engine.hidden = data.draw(jobs)

    @rule(data=st.data())
    @precondition(lambda self: self.world.engine.jobs)
    def forget_a_job(self, data: st.DataObject) -> None:
        """Its accounting is lost; what runs goes on."""
        job = data.draw(st.sampled_from(sorted(self.world.engine.jobs)))
        self.world.engine.forgotten.add(job)

    @rule(data=st.data(), cause=st.sampled_from(EndCause))
    @precondition(lambda self: self.world.engine.jobs)
    def end_a_job(self, data: st.DataObject, cause: EndCause) -> None:
        job = data.draw(st.sampled_from(sorted(self.world.engine.jobs)))
        self.world.engine.end_job(job, cause)

    @rule(data=st.data())
    @precondition(lambda self: self.world.engine.launchers)
    def cut_off_or_heal(self, data: st.DataObject) -> None:
        launcher = data.draw(st.sampled_from(self.world.engine.launchers))
        self.world.engine.reach(launcher, reachable=not launcher.reachable)

    @rule(data=st.data())
    @precondition(lambda self: self.world.engine.launchers)
    def exit(self, data: st.DataObject) -> None:
        data.draw(st.sampled_from(self.world.engine.launchers)).exit()

    @rule(data=st.data(), boots=st.booleans())
    @precondition(lambda self: self.world.engine.launchers)
    def crash_a_node(self, data: st.DataObject, boots: bool) -> None:  # noqa: FBT001
        """Where it is booted again, the engine proves that what ran there has ended."""
        launcher = data.draw(st.sampled_from(self.world.engine.launchers))
        self.world.engine.crash(launcher)
        if boots:
            self.world.engine.boot(launcher)

    @rule(data=st.data(), said=st.booleans())
    @precondition(lambda self: self.world.engine.launchers)
    def kill_a_launcher(self, data: st.DataObject, said: bool) -> None:  # noqa: FBT001
        """With all that it runs; the engine says so or doesn't."""
        launcher = data.draw(st.sampled_from(self.world.engine.launchers))
        launcher.kill()
        if said:
            self.world.engine.say(launcher, EngineTask(ended=True))

    @rule(data=st.data(), dies=st.booleans())
    @precondition(lambda self: self.world.engine.launchers and self.world.requests)
    def restart_what_its_launcher_will_not_take(self, data: st.DataObject, dies: bool) -> None:  # noqa: FBT001
        """That dies or is cut off after it has said that the replica is gone."""
        launcher = data.draw(st.sampled_from(self.world.engine.launchers))
        launcher.exit()
        self.world.turn()
        if dies:
            launcher.kill()
        else:
            self.world.engine.reach(launcher, reachable=False)
        if (attempt_id := self.world.served_by(launcher)) in self.world.requests:
            self._restart(attempt_id)

    @rule()
    def start_the_server_again(self) -> None:
        self.world.restart_server()

    @rule(ends=st.booleans())
    def forget_what_is_gone(self, ends: bool) -> None:  # noqa: FBT001
        """Their launchers leave, or wait for a replica of another attempt."""
        world = self.world
        for attempt_id, request in tuple(world.requests.items()):
            if ends:
                for name in world.presences(attempt_id):
                    for launcher in world.launchers_of(attempt_id, name):
                        launcher.exit()
                world.turn()
            world.backend.forget(request.attempt_id)
            if not world.presences(attempt_id):
                del world.requests[attempt_id]
        world.turn()

    @invariant()
    def nothing_runs_twice(self) -> None:
        self.world.check()

    def teardown(self) -> None:
        try:
            self._end_well()
        finally:
            shutil.rmtree(self.folder)

    def _end_well(self) -> None:
        """When all answer again, what was asked for runs or has ended; then all can be ended."""
        world = self.world
        world.heal()
        self._settle()
        for attempt_id in world.requests:
            waiting = Presence.WAITING in world.presences(attempt_id).values()
            assert not waiting, "nothing waits for ever"
            world.backend.stop(world.requests[attempt_id].attempt_id)
        self._settle()
        for attempt_id, request in world.requests.items():
            assert set(world.presences(attempt_id).values()) == {Presence.GONE}
            world.backend.forget(request.attempt_id)
        world.requests.clear()
        self._settle()
        known = set(world.engine.jobs) - world.engine.forgotten
        assert {world.engine.jobs[each].phase for each in known} <= {JobPhase.ENDED}
        assert not any(each.live for each in world.engine.launchers)

    def _settle(self) -> None:
        for _ in range(20):
            self.world.schedule()
            self.world.turn(STEP_S)
            self.world.check()


def test_whatever_the_engine_answers_nothing_is_lost_or_started_twice() -> None:
    run_machine(HalfAnswers, settings=MACHINE)


@pytest.fixture
def world(tmp_path: Path) -> World:
    """With a gang of two that runs."""
    world = World(tmp_path)
    world.start(make_request("u-1", REPLICAS))
    world.turn()
    world.schedule()
    world.turn()
    world.turn()
    assert set(world.presences("u-1").values()) == {Presence.LIVE}
    return world


def test_a_job_of_which_the_engine_says_late_that_it_runs_is_not_cancelled(world: World) -> None:
    """All that it ran has ended by then, and starts again there."""
    started = world.engine.jobs["1"]
    world.engine.jobs["1"] = replace(started, phase=JobPhase.WAITING)
    for launcher in world.engine.launchers:
        launcher.exit()
    world.turn()
    assert set(world.presences("u-1").values()) == {Presence.GONE}
    world.turn()
    world.engine.jobs["1"] = replace(world.engine.jobs["1"], phase=JobPhase.RUNNING)
    world.start(make_restart(world.requests["u-1"], REPLICAS[1]))
    world.turn()
    world.turn()
    assert world.presences("u-1")[REPLICAS[1]] is Presence.LIVE
    assert world.engine.launchers[1].starts == [0, 1]


def test_a_failed_job_is_over_when_its_silent_node_must_have_ended_it(world: World) -> None:
    cut_off = world.engine.launchers[0]
    world.engine.reach(cut_off, reachable=False)
    world.engine.end_job("1")
    world.turn()
    world.check()
    assert cut_off.live
    assert world.presences("u-1")[cut_off.replica] is not Presence.GONE
    for _ in range(12):
        world.turn(STEP_S)
        world.check()
    assert set(world.presences("u-1").values()) == {Presence.GONE}


@pytest.mark.parametrize("tells", [False, True])
@pytest.mark.parametrize("anew", [False, True])
def test_what_ended_without_a_node_is_over_when_its_launcher_is(
    world: World,
    tells: bool,  # noqa: FBT001
    anew: bool,  # noqa: FBT001
) -> None:
    """The node is back, and its engine has yet to end what runs there."""
    engine, cut_off = world.engine, world.engine.launchers[0]
    engine.tells_lost = tells
    engine.reach(cut_off, reachable=False)
    engine.end_job("1")
    world.turn()
    engine.reach(cut_off, reachable=True)
    if anew:
        world.backend = world.make_backend()
    world.turn()
    assert cut_off.live
    world.check()
    assert world.presences("u-1")[cut_off.replica] is not Presence.GONE
    for _ in range(12):
        world.turn(STEP_S)
        world.check()
    assert set(world.presences("u-1").values()) == {Presence.GONE}


def test_what_is_killed_with_its_launcher_has_time_to_end(tmp_path: Path) -> None:
    """A container is ended from outside the job that its launcher ran in."""
    world = World(tmp_path, settle_s=STEP_S)
    world.start(make_request("u-1"))
    world.turn()
    world.schedule()
    world.turn()
    world.turn()
    world.engine.end_job("1")
    world.turn()
    assert world.presences("u-1") == {REPLICAS[0]: Presence.LIVE}
    world.turn(STEP_S)
    assert world.presences("u-1") == {REPLICAS[0]: Presence.GONE}


def test_a_task_that_has_ended_ends_its_replica_alone(world: World) -> None:
    """Its launcher was killed, and says nothing."""
    launcher = world.engine.launchers[1]
    launcher.kill()
    world.engine.say(launcher, EngineTask(ended=True, reason="killed", cause=EndCause.CANCELLED))
    world.turn()
    world.check()
    first, second = world.backend.list()
    assert (first.presence, second.presence) == (Presence.LIVE, Presence.GONE)
    assert (second.reason, second.cause) == ("killed", EndCause.CANCELLED)


def test_a_launcher_that_will_not_start_is_replaced_by_that_of_another_job(tmp_path: Path) -> None:
    world = World(tmp_path)
    request = make_request("u-1", REPLICAS)
    world.start(request)
    world.turn()
    stuck = EngineTask(stuck=True, reason="its node does not answer")
    world.schedule()
    first, second = world.engine.launchers
    second.reachable = False
    world.turn()
    world.turn()
    world.engine.jobs["1"] = replace(world.engine.jobs["1"], tasks=(stuck, stuck))
    world.turn()
    assert world.presences("u-1") == dict(
        zip(REPLICAS, (Presence.LIVE, Presence.GONE), strict=True)
    )
    world.start(make_restart(request, REPLICAS[1]))
    for _ in range(2):
        world.turn()
        world.schedule()
    second.reachable = True
    world.turn()
    world.turn()
    world.check()
    assert set(world.presences("u-1").values()) == {Presence.LIVE}
    assert second.left
    assert (first.starts, second.starts) == ([0], [])


def test_a_job_whose_submit_was_not_answered_is_found_by_its_name(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.engine.loses_answer = True
    world.start(make_request("u-1"))
    for _ in range(5):
        world.turn(STEP_S)
    assert list(world.engine.jobs) == ["1"]
    world.schedule()
    world.turn()
    world.turn()
    assert world.presences("u-1") == {REPLICAS[0]: Presence.LIVE}


def test_of_two_jobs_one_is_served_and_the_other_cancelled(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.engine.loses_answer = True
    world.start(make_request("u-1"))
    world.turn()
    world.engine.hidden = {"1"}
    for _ in range(5):
        world.turn(STEP_S)
    assert list(world.engine.jobs) == ["1", "2"]
    world.engine.hidden.clear()
    world.schedule()
    for _ in range(3):
        world.turn()
        world.check()
    assert [job.phase for job in world.engine.jobs.values()].count(JobPhase.RUNNING) == 1
    assert sum(each.live for each in world.engine.launchers) == 1


def test_what_runs_goes_on_when_its_engine_is_down_or_has_forgotten_it(world: World) -> None:
    world.engine.forgotten = {"1"}
    for _ in range(20):
        world.turn(STEP_S)
    world.engine.down = True
    world.backend = world.make_backend()
    for _ in range(20):
        world.turn(STEP_S)
    assert set(world.presences("u-1").values()) == {Presence.LIVE}
    assert list(world.engine.jobs) == ["1"]
    assert [each.starts for each in world.engine.launchers] == [[0], [0]]


def test_a_refused_job_says_why_and_is_taken_later(tmp_path: Path) -> None:
    world = World(tmp_path)
    world.engine.refuses = "there is no partition gpu"
    world.start(make_request("u-1"))
    world.turn()
    (seen,) = world.backend.list()
    assert seen.reason == "the engine refuses its job: there is no partition gpu"
    world.engine.refuses = ""
    for _ in range(5):
        world.turn(STEP_S)
    assert list(world.engine.jobs) == ["1"]
