"""What a supervisor does with the answers to its standing question, and without them."""

from __future__ import annotations

import json
import select
from dataclasses import dataclass, field
from typing import Any

import pytest

from footplate.replica.background_tasks import BackgroundTasks
from footplate.replica.control_requests import (
    CONTROL_REQUESTS_PATH,
    MIN_AGE_S,
    NEVER,
    POLL_INTERVAL_S,
    TIMEOUT_S,
    ControlRequests,
    is_word,
)
from footplate.replica.http_client import ServerUnavailable
from footplate.replica.nonblocking_http import Answer, NonblockingRequest


@dataclass
class FakeExchange:
    """``answer`` is what comes at the next step; None: the server is away."""

    away: bool = False
    answer: Answer | None = None
    requests: list[tuple[str, str, bytes | None]] = field(default_factory=list)
    busy: bool = False
    elsewhere: bool = False
    """Whether the server has moved since the request began."""

    def begin(self, method: str, path: str, body: bytes | None) -> None:
        if self.away:
            raise ServerUnavailable("away")
        self.requests.append((method, path, body))
        self.busy = True

    def step(self) -> Answer | None:
        self.busy = False
        if self.answer is None:
            raise ServerUnavailable("away")
        return self.answer

    def abort(self) -> None:
        self.busy = False

    def moved(self) -> bool:
        return self.elsewhere

    def fileno(self) -> int:
        return -1

    def events(self) -> int:
        return select.POLLIN


@dataclass
class FakeErrands:
    faults: dict[str, str] = field(default_factory=dict)
    ended: list[tuple[str, str]] = field(default_factory=list)
    run_: list[tuple[str, str]] = field(default_factory=list)
    killed: bool = False

    def run(self, kind: str, control_request: str) -> str:
        self.run_.append((kind, control_request))
        return self.faults.get(control_request, "")

    def reap(self) -> list[tuple[str, str]]:
        ended, self.ended = self.ended, []
        return ended

    def kill(self) -> None:
        self.killed = True


class Context:
    def __init__(self) -> None:
        self.exchange = FakeExchange()
        self.background_tasks = FakeErrands()
        self.now = 1000.0
        exchange: NonblockingRequest = self.exchange  # type: ignore[assignment]  # all that is used of it
        background_tasks: BackgroundTasks = self.background_tasks  # type: ignore[assignment]  # all that is used of it
        self.control_requests = ControlRequests(exchange, background_tasks, lambda: 1.0)

    def ask(self) -> None:
        """Let time pass until it asks."""
        assert self.control_requests.deadline() < NEVER
        self.now = max(self.now, self.control_requests.deadline())
        self.control_requests.tick(self.now)

    def receive(self, value: object, status: int = 200) -> float:
        """The server answers; how many seconds later it is asked again."""
        if not self.exchange.busy:
            self.ask()
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.exchange.answer = Answer(status, body)
        self.control_requests.step(self.now)
        return max(0.0, self.control_requests.deadline() - self.now)

    @property
    def last(self) -> tuple[str, str, bytes | None]:
        return self.exchange.requests[-1]


@pytest.fixture
def context() -> Context:
    context = Context()
    context.control_requests.open(context.now)
    return context


def control_request(name: Any = "abc1", kind: Any = "stacks") -> dict[str, Any]:
    return {"id": name, "kind": kind}


def answer(*control_requests: object, cursor: Any = "life-7") -> dict[str, Any]:
    return {"control_requests": list(control_requests), "cursor": cursor}


def test_it_asks_only_while_the_program_runs() -> None:
    context = Context()
    context.control_requests.tick(context.now)
    assert (context.exchange.requests, context.control_requests.deadline()) == ([], NEVER)
    context.control_requests.open(context.now)
    context.ask()
    assert context.exchange.requests == [("GET", CONTROL_REQUESTS_PATH, None)]
    context.control_requests.close()
    context.control_requests.tick(context.now)
    assert (context.exchange.busy, context.background_tasks.killed) == (False, True)
    assert (len(context.exchange.requests), context.control_requests.deadline()) == (1, NEVER)


def test_a_program_that_ends_at_once_is_not_asked_for() -> None:
    context = Context()
    context.control_requests.open(context.now)
    context.control_requests.tick(context.now)
    assert context.exchange.requests == []
    assert context.now < context.control_requests.deadline() <= context.now + MIN_AGE_S


def test_each_control_request_is_seen_to_and_the_next_question_says_so(context: Context) -> None:
    assert context.receive(answer(control_request("a"), control_request("b"))) == 0
    assert context.background_tasks.run_ == [("stacks", "a"), ("stacks", "b")]
    context.ask()
    assert context.last == ("GET", f"{CONTROL_REQUESTS_PATH}?after=life-7", None)


@pytest.mark.parametrize(
    "bad",
    [
        control_request("../../x"),
        control_request("--pid"),
        control_request("a b"),
        control_request(""),
        control_request("a" * 65),
        control_request("ä"),
        control_request(None),
        control_request(7),
        control_request(kind="a/b"),
        control_request(kind=None),
        "abc",
        None,
        [],
    ],
)
def test_what_is_no_name_comes_on_no_command_line(context: Context, bad: object) -> None:
    context.receive(answer(bad, control_request("good")))
    assert context.background_tasks.run_ == [("stacks", "good")]


@pytest.mark.parametrize(
    "nonsense",
    [
        b"",
        b"<html>",
        [],
        {},
        answer(cursor=None),
        answer(cursor="a\r\nHost: b"),
        {"control_requests": 3, "cursor": "a"},
    ],
)
def test_after_nonsense_it_rests_longer_and_longer_and_goes_on(
    context: Context, nonsense: object
) -> None:
    rests = [context.receive(nonsense) for _ in range(20)]
    assert rests == sorted(rests)
    assert [rests[0], rests[-1]] == pytest.approx([0.05, 60])
    assert context.background_tasks.run_ == []
    context.receive(answer(control_request()))
    assert context.background_tasks.run_ == [("stacks", "abc1")]


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_refusal_changes_nothing_else(context: Context, status: int) -> None:
    """An old server knows nothing of control requests, and may be replaced while the program
    runs.
    """
    rests = [context.receive({"error": {"status": "NOT_FOUND"}}, status) for _ in range(20)]
    assert rests[-1] == pytest.approx(60)


def test_a_server_that_does_not_lead_is_left_soon(context: Context) -> None:
    rests = [context.receive({"error": {"status": "UNAVAILABLE"}}, 503) for _ in range(20)]
    assert rests[-1] == pytest.approx(5)
    assert not context.exchange.busy


def test_a_server_that_has_nothing_and_says_so_at_once_is_not_asked_without_end(
    context: Context,
) -> None:
    rests = [context.receive(answer()) for _ in range(10)]
    assert rests == sorted(rests)
    assert rests[-1] == pytest.approx(5)
    context.ask()
    context.now += 25  # the question stood
    assert context.receive(answer()) == 0


def test_while_the_server_is_away_it_rests_at_most_5_seconds(context: Context) -> None:
    context.exchange.away = True
    for _ in range(20):
        context.ask()
    assert context.control_requests.deadline() - context.now == pytest.approx(5)
    assert context.exchange.requests == []
    context.exchange.away = False
    context.ask()
    assert context.exchange.busy


def test_an_answer_that_never_comes_is_waited_for_no_longer_than_its_patience(
    context: Context,
) -> None:
    context.ask()
    begun = context.now
    while context.exchange.busy:
        context.ask()
    assert context.now == begun + TIMEOUT_S
    context.ask()
    assert len(context.exchange.requests) == 2


def test_a_question_is_asked_anew_where_another_server_has_come(context: Context) -> None:
    context.ask()
    begun = context.now
    context.exchange.elsewhere = True
    context.ask()
    assert not context.exchange.busy
    assert context.now - begun == POLL_INTERVAL_S
    context.ask()
    assert len(context.exchange.requests) == 2


def test_what_can_not_be_seen_to_is_told(context: Context) -> None:
    context.background_tasks.faults = {"b": 'it has "too" much to do'}
    context.receive(answer(control_request("a"), control_request("b"), control_request("c")))
    context.ask()
    method, path, body = context.last
    assert (method, path) == ("POST", f"{CONTROL_REQUESTS_PATH}/b")
    assert json.loads(body or b"") == {"error": 'it has "too" much to do'}
    context.receive({}, 404)  # nobody waits for it any more
    context.ask()
    assert context.last == ("GET", f"{CONTROL_REQUESTS_PATH}?after=life-7", None)


def test_a_process_that_failed_is_told_though_a_question_stands(context: Context) -> None:
    context.receive(answer(control_request("a")))
    context.ask()
    context.background_tasks.ended = [("a", "the process for the request was ended by signal 9")]
    context.control_requests.reap_finished()
    context.control_requests.tick(context.now)
    assert context.last[:2] == ("POST", f"{CONTROL_REQUESTS_PATH}/a")


def test_of_processes_that_ended_with_the_program_nothing_is_told(context: Context) -> None:
    context.receive(answer(control_request("a")))
    context.control_requests.close()
    context.background_tasks.ended = [("a", "the process for the request was ended by signal 9")]
    context.control_requests.reap_finished()
    context.control_requests.tick(context.now)
    assert len(context.exchange.requests) == 1


@pytest.mark.parametrize("text", ["a", "A-1", "0" * 64])
def test_words(text: str) -> None:
    assert is_word(text)
