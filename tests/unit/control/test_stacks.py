from __future__ import annotations

import json
from dataclasses import replace
from itertools import count
from threading import Event, Thread

import pytest

from footplate.control.control_requests import (
    MOST_OF_A_REPLICA,
    ControlRequestKind,
    ControlRequests,
)
from footplate.control.stacks import MOST_AT_ONCE, Stacks
from footplate.control.tokens import Bearer
from footplate.domain.errors import FailedPrecondition, NotFound, ResourceExhausted
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Job, Replica
from footplate.protocol.control_requests import ControlResponse
from tests.support.jobs import make_job, make_spec

MASTER, FIRST, SECOND = "master-replica-0", "worker-replica-0", "worker-replica-1"
LONG_S = 60.0


def told(function: str) -> str:
    frames = [{"function": function, "file": "trainer/task.py", "line": 3}]
    threads = [{"name": "MainThread", "frames": frames}]
    process = {"pid": 7, "command": "python", "program": True, "threads": threads}
    return json.dumps({"processes": [process]})


def make(*phases: Phase, state: State = State.RUNNING) -> Job:
    spec = make_spec(workers=2)
    given = phases or (Phase.RUNNING,) * 3
    replicas = tuple(
        Replica(name, phase) for name, phase in zip(spec.replica_names(), given, strict=True)
    )
    return replace(make_job(spec=spec), state=state, attempt=1, replicas=replicas)


class World:
    """Replicas that answer as soon as they are asked."""

    def __init__(self, answers: dict[str, ControlResponse]) -> None:
        numbers = count()
        self.control_requests = ControlRequests(lambda: f"w{next(numbers)}", 10)
        self.stacks = Stacks(self.control_requests)
        self.job = make()
        for replica, answer in answers.items():
            self._let_answer(replica, answer)

    def _let_answer(self, replica: str, answer: ControlResponse) -> None:
        asked = Bearer(self.job.attempt_id, replica)

        def wake() -> None:
            for control_request in self.control_requests.pending(asked, "")[0]:
                self.control_requests.answer(control_request.id, asked, answer)

        assert self.control_requests.hold(asked, wake) is not None


ALL = {
    MASTER: ControlResponse(told("all_reduce")),
    FIRST: ControlResponse(told("load")),
    SECOND: ControlResponse(told("all_reduce")),
}


def test_all_are_asked_and_compared() -> None:
    world = World(ALL)
    report = world.stacks.collect(world.job, limit_s=LONG_S)
    groups = [[m.replica for m in place.members] for place in report.comparison.places]
    assert groups == [[MASTER, SECOND], [FIRST]]
    assert (report.comparison.missing, set(report.dumps)) == ((), {MASTER, FIRST, SECOND})


def test_only_those_that_are_named_are_asked() -> None:
    world = World({FIRST: ALL[FIRST]})
    report = world.stacks.collect(world.job, [FIRST, FIRST], limit_s=LONG_S)
    assert list(report.dumps) == [FIRST]
    with pytest.raises(NotFound, match="no replica 'ps-0'"):
        world.stacks.collect(world.job, [FIRST, "ps-0"])


def test_who_does_not_answer_is_named_with_the_reason() -> None:
    refusing = ControlResponse(error="py-spy isn't permitted")
    world = World({MASTER: refusing, FIRST: ControlResponse("nonsense")})
    missing = world.stacks.collect(world.job, limit_s=0.01).comparison.missing
    assert [each.replica for each in missing] == [MASTER, FIRST, SECOND]
    assert missing[0].reason == "py-spy isn't permitted"
    assert missing[1].reason.startswith("the replica's answer can't be read: the body is not JSON")
    assert missing[2].reason == "no answer within 0.01 s"


def test_who_does_not_run_is_named_and_not_waited_for() -> None:
    world = World(ALL)
    job = make(Phase.RUNNING, Phase.EXITED, Phase.RUNNING)
    report = world.stacks.collect(job, limit_s=LONG_S)
    assert [(each.replica, each.reason) for each in report.comparison.missing] == [
        (FIRST, f"replica {FIRST} has EXITED: the program has ended")
    ]


def test_where_nobody_runs_there_is_nothing_to_ask() -> None:
    world = World(ALL)
    with pytest.raises(FailedPrecondition, match="is SUCCEEDED: none of its programs runs"):
        world.stacks.collect(make(state=State.SUCCEEDED))
    with pytest.raises(FailedPrecondition, match=f"replica {MASTER} is PREPARING"):
        world.stacks.collect(make(*[Phase.PREPARING] * 3))


def test_one_with_too_many_control_requests_is_named() -> None:
    world = World({MASTER: ALL[MASTER], FIRST: ALL[FIRST]})
    for _ in range(MOST_OF_A_REPLICA):
        world.control_requests.ask(world.job, SECOND, ControlRequestKind.STACKS)
    missing = world.stacks.collect(world.job, limit_s=LONG_S).comparison.missing
    assert [each.reason for each in missing] == [
        f"replica {SECOND} has {MOST_OF_A_REPLICA} pending requests; try again later"
    ]


def test_only_so_many_wait_at_once() -> None:
    world = World({})
    asking = [Thread(target=world.stacks.tell, args=(world.job, LONG_S)) for _ in range(8)]
    assert len(asking) == MOST_AT_ONCE
    asked = Event()
    world.control_requests.hold(Bearer(world.job.attempt_id, SECOND), asked.set)
    for thread in asking:
        asked.clear()
        thread.start()
        assert asked.wait(LONG_S)
    with pytest.raises(ResourceExhausted, match="reads the stacks of 8 jobs; try again"):
        world.stacks.collect(world.job)
    assert world.stacks.tell(world.job).startswith(
        "no stacks: the server already reads the stacks of 8 jobs"
    )
    world.control_requests.close()
    for thread in asking:
        thread.join()
    world.stacks.collect(world.job)


def test_as_a_text() -> None:
    world = World(ALL)
    assert world.stacks.tell(world.job, LONG_S) == (
        f"{MASTER}, {SECOND} (2 of 3) are in all_reduce (trainer/task.py:3)\n"
        "  all_reduce (trainer/task.py:3)\n"
        "\n"
        f"{FIRST} differs: it is in load (trainer/task.py:3)\n"
        "  load (trainer/task.py:3)"
    )
    ended = make(state=State.FAILED)
    assert world.stacks.tell(ended) == (
        f"no stacks: job {ended.name} is FAILED: none of its programs runs"
    )
