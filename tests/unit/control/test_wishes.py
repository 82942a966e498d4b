from __future__ import annotations

import threading
from dataclasses import replace
from itertools import count

import pytest

from footplate.control.tokens import Bearer
from footplate.control.wishes import MOST_OF_A_REPLICA, Wishes, WishKind
from footplate.domain.errors import FailedPrecondition, NotFound, ResourceExhausted
from footplate.domain.jobs import Job, Replica
from footplate.domain.names import AttemptId
from footplate.domain.states import Phase, State
from footplate.wire.wishes import WishAnswer
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


def make_wishes(most_held: int = 10, life: str = "a") -> Wishes:
    numbers = count()
    return Wishes(lambda: f"{life}{next(numbers)}", most_held)


@pytest.fixture
def wishes() -> Wishes:
    return make_wishes()


def test_a_wish_is_heard_by_the_replica_that_is_asked_and_answered_by_it(wishes: Wishes) -> None:
    wish = wishes.ask(JOB, MASTER, WishKind.STACKS)

    assert wishes.pending(ASKED, "")[0] == (wish,)
    assert wishes.pending(Bearer(JOB.attempt_id, WORKER), "")[0] == ()
    assert wishes.pending(Bearer(AttemptId("other-1"), MASTER), "")[0] == ()
    wishes.answer(wish.id, ASKED, WishAnswer("here"))
    assert wishes.wait([wish], 60) == (WishAnswer("here"),)
    assert wishes.pending(ASKED, "")[0] == ()


def test_a_tuning_job_says_which_jobs_can_be_asked(wishes: Wishes) -> None:
    job = make_job("projects/demo/jobs/tuned_1", spec=replace(make_spec(), search=make_search()))
    with pytest.raises(FailedPrecondition, match="of its trials, tuned_1-1, tuned_1-2 and so on"):
        wishes.ask(job, MASTER, WishKind.STACKS)


@pytest.mark.parametrize(
    "asked", [Bearer(JOB.attempt_id, WORKER), Bearer(AttemptId("other-1"), MASTER)]
)
def test_nobody_else_can_answer(wishes: Wishes, asked: Bearer) -> None:
    wish = wishes.ask(JOB, MASTER, WishKind.STACKS)
    with pytest.raises(NotFound, match="nobody waits"):
        wishes.answer(wish.id, asked, WishAnswer("lies"))
    assert wishes.pending(ASKED, "")[0] == (wish,)


def test_only_the_first_answer_counts(wishes: Wishes) -> None:
    wish = wishes.ask(JOB, MASTER, WishKind.STACKS)
    wishes.answer(wish.id, ASKED, WishAnswer("first"))
    with pytest.raises(NotFound):
        wishes.answer(wish.id, ASKED, WishAnswer("second"))
    assert wishes.wait([wish], 60) == (WishAnswer("first"),)


def test_without_an_answer_in_time_there_is_an_error_and_the_wish_is_gone(wishes: Wishes) -> None:
    wish = wishes.ask(JOB, MASTER, WishKind.STACKS)
    assert wishes.wait([wish], 0) == (WishAnswer(error="no answer within 0 s"),)
    assert wishes.pending(ASKED, "")[0] == ()
    with pytest.raises(NotFound):
        wishes.answer(wish.id, ASKED, WishAnswer("late"))


def test_answers_come_in_the_order_of_the_wishes(wishes: Wishes) -> None:
    first = wishes.ask(JOB, MASTER, WishKind.STACKS)
    second = wishes.ask(JOB, WORKER, WishKind.STACKS)
    wishes.answer(second.id, second.asked, WishAnswer("2"))
    wishes.answer(first.id, first.asked, WishAnswer("1"))
    assert [answer.text for answer in wishes.wait([first, second], 60)] == ["1", "2"]


def test_a_wish_comes_again_until_the_replica_says_that_it_has_it(wishes: Wishes) -> None:
    first = wishes.ask(JOB, MASTER, WishKind.STACKS)
    _, cursor = wishes.pending(ASKED, "")
    second = wishes.ask(JOB, MASTER, WishKind.STACKS)
    assert wishes.pending(ASKED, "")[0] == (first, second)
    assert wishes.pending(ASKED, cursor)[0] == (second,)
    _, cursor = wishes.pending(ASKED, cursor)
    assert wishes.pending(ASKED, cursor)[0] == ()


@pytest.mark.parametrize("after", ["", "b0-99", "a0", "a0-", "a0-x", "-", "a0-" + "9" * 5000])
def test_to_a_cursor_that_is_not_this_servers_all_is_said(wishes: Wishes, after: str) -> None:
    wish = wishes.ask(JOB, MASTER, WishKind.STACKS)
    assert wishes.pending(ASKED, after)[0] == (wish,)


def test_whoever_holds_a_question_is_woken_by_a_wish_for_it(wishes: Wishes) -> None:
    woken = threading.Event()
    release = wishes.hold(ASKED, woken.set)
    assert release is not None
    wishes.ask(JOB, WORKER, WishKind.STACKS)
    assert not woken.is_set()
    wishes.ask(JOB, MASTER, WishKind.STACKS)
    assert woken.is_set()
    release()
    woken.clear()
    wishes.ask(JOB, MASTER, WishKind.STACKS)
    assert not woken.is_set()


def test_of_two_questions_of_a_replica_the_later_one_stands() -> None:
    """The earlier one's connection may be dead without anybody knowing."""
    wishes = make_wishes(most_held=1)
    earlier, later = threading.Event(), threading.Event()
    release = wishes.hold(ASKED, earlier.set)
    assert wishes.hold(ASKED, later.set) is not None
    assert release is not None
    assert earlier.is_set()
    release()
    wishes.ask(JOB, MASTER, WishKind.STACKS)
    assert later.is_set()


def test_no_more_questions_stand_than_there_may() -> None:
    wishes = make_wishes(most_held=1)
    release = wishes.hold(ASKED, lambda: None)
    assert release is not None
    assert wishes.hold(Bearer(JOB.attempt_id, WORKER), lambda: None) is None
    release()
    assert wishes.hold(Bearer(JOB.attempt_id, WORKER), lambda: None) is not None


def test_too_many_wishes_for_one_replica_are_refused(wishes: Wishes) -> None:
    made = [wishes.ask(JOB, MASTER, WishKind.STACKS) for _ in range(MOST_OF_A_REPLICA)]
    with pytest.raises(ResourceExhausted, match="8 wishes to answer; ask again later"):
        wishes.ask(JOB, MASTER, WishKind.STACKS)
    wishes.ask(JOB, WORKER, WishKind.STACKS)
    wishes.wait(made, 0)
    wishes.ask(JOB, MASTER, WishKind.STACKS)


def test_the_end_of_the_server_lets_everybody_go(wishes: Wishes) -> None:
    woken = threading.Event()
    assert wishes.hold(ASKED, woken.set) is not None
    wish = wishes.ask(JOB, WORKER, WishKind.STACKS)
    wishes.close()
    assert woken.is_set()
    assert wishes.hold(ASKED, woken.set) is None
    late = wishes.ask(JOB, WORKER, WishKind.STACKS)
    for answer in wishes.wait([wish, late], 60):
        assert answer.error == "the server is being stopped; ask again when it is back"


def test_an_asker_that_gave_up_does_no_harm(wishes: Wishes) -> None:
    wish = wishes.ask(JOB, MASTER, WishKind.STACKS)
    assert wish.answered.cancel()
    wishes.answer(wish.id, ASKED, WishAnswer("here"))


@pytest.mark.parametrize(
    ("phase", "words"),
    [
        (Phase.WAITING, "hasn't started yet"),
        (Phase.PREPARING, "is PREPARING: its program hasn't started yet"),
        (Phase.READY, "is READY: its program starts when all replicas of its job are ready"),
        (Phase.EXITED, "has EXITED: its program has ended"),
        (Phase.GONE, "is GONE: its program has ended"),
    ],
)
def test_a_replica_whose_program_does_not_run_is_asked_nothing(
    wishes: Wishes, phase: Phase, words: str
) -> None:
    job = running_job(Phase.RUNNING, phase)
    with pytest.raises(FailedPrecondition) as caught:
        wishes.ask(job, WORKER, WishKind.STACKS)
    assert caught.value.message == f"replica {WORKER} {words}"
    wishes.ask(job, MASTER, WishKind.STACKS)


@pytest.mark.parametrize("state", [State.QUEUED, State.SUCCEEDED, State.FAILED, State.CANCELLED])
def test_nor_is_one_of_a_job_that_does_not_run(wishes: Wishes, state: State) -> None:
    replicas = () if state is State.QUEUED else JOB.replicas
    job = replace(JOB, state=state, replicas=replicas)
    with pytest.raises(FailedPrecondition, match=f"is {state.value}: no program of it runs"):
        wishes.ask(job, MASTER, WishKind.STACKS)


def test_a_replica_that_is_not_there_is_named_with_those_that_are(wishes: Wishes) -> None:
    with pytest.raises(NotFound, match=f"no replica 'ps-0'; it has {MASTER}, {WORKER}"):
        wishes.ask(JOB, "ps-0", WishKind.STACKS)
