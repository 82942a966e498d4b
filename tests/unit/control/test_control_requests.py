from __future__ import annotations

import threading
from dataclasses import replace
from itertools import count

import pytest

from footplate.control.control_requests import (
    MOST_OF_A_REPLICA,
    ControlRequestKind,
    ControlRequests,
)
from footplate.control.tokens import Bearer
from footplate.domain.errors import FailedPrecondition, NotFound, ResourceExhausted
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Job, Replica
from footplate.domain.names import AttemptId
from footplate.protocol.control_requests import ControlResponse
from tests.support.jobs import make_job, make_search, make_spec

MASTER, WORKER = "master-replica-0", "worker-replica-0"


def running_job(*phases: Phase) -> Job:
    spec = make_spec(workers=1)
    phases = phases or (Phase.RUNNING, Phase.RUNNING)
    replicas = tuple(
        Replica(name, phase) for name, phase in zip(spec.replica_names(), phases, strict=True)
    )
    return replace(make_job(spec=spec), state=State.RUNNING, attempt=1, replicas=replicas)


JOB = running_job()
ASKED = Bearer(JOB.attempt_id, MASTER)


def make_control_requests(most_held: int = 10, life: str = "a") -> ControlRequests:
    numbers = count()
    return ControlRequests(lambda: f"{life}{next(numbers)}", most_held)


@pytest.fixture
def control_requests() -> ControlRequests:
    return make_control_requests()


def test_a_control_request_is_heard_by_the_replica_that_is_asked_and_answered_by_it(
    control_requests: ControlRequests,
) -> None:
    control_request = control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)

    assert control_requests.pending(ASKED, "")[0] == (control_request,)
    assert control_requests.pending(Bearer(JOB.attempt_id, WORKER), "")[0] == ()
    assert control_requests.pending(Bearer(AttemptId("other-1"), MASTER), "")[0] == ()
    control_requests.answer(control_request.id, ASKED, ControlResponse("here"))
    assert control_requests.wait([control_request], 60) == (ControlResponse("here"),)
    assert control_requests.pending(ASKED, "")[0] == ()


def test_a_tuning_job_says_which_jobs_can_be_asked(control_requests: ControlRequests) -> None:
    job = make_job("projects/demo/jobs/tuned_1", spec=replace(make_spec(), search=make_search()))
    with pytest.raises(FailedPrecondition, match="of its trials, tuned_1-1, tuned_1-2 and so on"):
        control_requests.ask(job, MASTER, ControlRequestKind.STACKS)


@pytest.mark.parametrize(
    "asked", [Bearer(JOB.attempt_id, WORKER), Bearer(AttemptId("other-1"), MASTER)]
)
def test_nobody_else_can_answer(control_requests: ControlRequests, asked: Bearer) -> None:
    control_request = control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    with pytest.raises(NotFound, match="no caller waits"):
        control_requests.answer(control_request.id, asked, ControlResponse("lies"))
    assert control_requests.pending(ASKED, "")[0] == (control_request,)


def test_only_the_first_answer_counts(control_requests: ControlRequests) -> None:
    control_request = control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    control_requests.answer(control_request.id, ASKED, ControlResponse("first"))
    with pytest.raises(NotFound):
        control_requests.answer(control_request.id, ASKED, ControlResponse("second"))
    assert control_requests.wait([control_request], 60) == (ControlResponse("first"),)


def test_without_an_answer_in_time_there_is_an_error_and_the_control_request_is_gone(
    control_requests: ControlRequests,
) -> None:
    control_request = control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    assert control_requests.wait([control_request], 0) == (
        ControlResponse(error="no answer within 0 s"),
    )
    assert control_requests.pending(ASKED, "")[0] == ()
    with pytest.raises(NotFound):
        control_requests.answer(control_request.id, ASKED, ControlResponse("late"))


def test_answers_come_in_the_order_of_the_control_requests(
    control_requests: ControlRequests,
) -> None:
    first = control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    second = control_requests.ask(JOB, WORKER, ControlRequestKind.STACKS)
    control_requests.answer(second.id, second.asked, ControlResponse("2"))
    control_requests.answer(first.id, first.asked, ControlResponse("1"))
    assert [answer.text for answer in control_requests.wait([first, second], 60)] == ["1", "2"]


def test_a_control_request_comes_again_until_the_replica_says_that_it_has_it(
    control_requests: ControlRequests,
) -> None:
    first = control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    _, cursor = control_requests.pending(ASKED, "")
    second = control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    assert control_requests.pending(ASKED, "")[0] == (first, second)
    assert control_requests.pending(ASKED, cursor)[0] == (second,)
    _, cursor = control_requests.pending(ASKED, cursor)
    assert control_requests.pending(ASKED, cursor)[0] == ()


@pytest.mark.parametrize("after", ["", "b0-99", "a0", "a0-", "a0-x", "-", "a0-" + "9" * 5000])
def test_to_a_cursor_that_is_not_this_servers_all_is_said(
    control_requests: ControlRequests, after: str
) -> None:
    control_request = control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    assert control_requests.pending(ASKED, after)[0] == (control_request,)


def test_whoever_holds_a_question_is_woken_by_a_control_request_for_it(
    control_requests: ControlRequests,
) -> None:
    woken = threading.Event()
    release = control_requests.hold(ASKED, woken.set)
    assert release is not None
    control_requests.ask(JOB, WORKER, ControlRequestKind.STACKS)
    assert not woken.is_set()
    control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    assert woken.is_set()
    release()
    woken.clear()
    control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    assert not woken.is_set()


def test_of_two_questions_of_a_replica_the_later_one_stands() -> None:
    """The earlier one's connection may be dead without anybody knowing."""
    control_requests = make_control_requests(most_held=1)
    earlier, later = threading.Event(), threading.Event()
    release = control_requests.hold(ASKED, earlier.set)
    assert control_requests.hold(ASKED, later.set) is not None
    assert release is not None
    assert earlier.is_set()
    release()
    control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    assert later.is_set()


def test_no_more_questions_stand_than_there_may() -> None:
    control_requests = make_control_requests(most_held=1)
    release = control_requests.hold(ASKED, lambda: None)
    assert release is not None
    assert control_requests.hold(Bearer(JOB.attempt_id, WORKER), lambda: None) is None
    release()
    assert control_requests.hold(Bearer(JOB.attempt_id, WORKER), lambda: None) is not None


def test_too_many_control_requests_for_one_replica_are_refused(
    control_requests: ControlRequests,
) -> None:
    made = [
        control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
        for _ in range(MOST_OF_A_REPLICA)
    ]
    with pytest.raises(ResourceExhausted, match="8 pending requests; try again later"):
        control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    control_requests.ask(JOB, WORKER, ControlRequestKind.STACKS)
    control_requests.wait(made, 0)
    control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)


def test_the_end_of_the_server_lets_everybody_go(control_requests: ControlRequests) -> None:
    woken = threading.Event()
    assert control_requests.hold(ASKED, woken.set) is not None
    control_request = control_requests.ask(JOB, WORKER, ControlRequestKind.STACKS)
    control_requests.close()
    assert woken.is_set()
    assert control_requests.hold(ASKED, woken.set) is None
    late = control_requests.ask(JOB, WORKER, ControlRequestKind.STACKS)
    for answer in control_requests.wait([control_request, late], 60):
        assert answer.error == "the server is stopping; ask again when it runs again"


def test_an_asker_that_gave_up_does_no_harm(control_requests: ControlRequests) -> None:
    control_request = control_requests.ask(JOB, MASTER, ControlRequestKind.STACKS)
    assert control_request.answered.cancel()
    control_requests.answer(control_request.id, ASKED, ControlResponse("here"))


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        (Phase.WAITING, "hasn't started yet"),
        (Phase.PREPARING, "is PREPARING: the program hasn't started yet"),
        (Phase.READY, "is READY: the program starts when all replicas of the job are ready"),
        (Phase.EXITED, "has EXITED: the program has ended"),
        (Phase.GONE, "is GONE: the program has ended"),
    ],
)
def test_a_replica_whose_program_does_not_run_is_asked_nothing(
    control_requests: ControlRequests, phase: Phase, words: str
) -> None:
    job = running_job(Phase.RUNNING, phase)
    with pytest.raises(FailedPrecondition) as caught:
        control_requests.ask(job, WORKER, ControlRequestKind.STACKS)
    assert caught.value.message == f"replica {WORKER} {words}"
    control_requests.ask(job, MASTER, ControlRequestKind.STACKS)


@pytest.mark.parametrize("state", [State.QUEUED, State.SUCCEEDED, State.FAILED, State.CANCELLED])
def test_nor_is_one_of_a_job_that_does_not_run(
    control_requests: ControlRequests, state: State
) -> None:
    replicas = () if state is State.QUEUED else JOB.replicas
    job = replace(JOB, state=state, replicas=replicas)
    with pytest.raises(FailedPrecondition, match=f"is {state.value}: none of its programs runs"):
        control_requests.ask(job, MASTER, ControlRequestKind.STACKS)


def test_a_replica_that_is_not_there_is_named_with_those_that_are(
    control_requests: ControlRequests,
) -> None:
    with pytest.raises(NotFound, match=f"no replica 'ps-0'; its replicas: {MASTER}, {WORKER}"):
        control_requests.ask(JOB, "ps-0", ControlRequestKind.STACKS)
