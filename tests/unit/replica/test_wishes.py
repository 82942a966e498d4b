"""What a supervisor does with the answers to its standing question, and without them."""

from __future__ import annotations

import json
import select
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from footplate.replica.connection import ServerAway
from footplate.replica.exchange import Answer
from footplate.replica.wishes import (
    LOOK_S,
    NEVER,
    PATIENCE_S,
    WISHES_PATH,
    YOUNG_S,
    Wishes,
    is_word,
)

if TYPE_CHECKING:
    from footplate.replica.errands import Errands
    from footplate.replica.exchange import Exchange


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
            raise ServerAway("away")
        self.requests.append((method, path, body))
        self.busy = True

    def step(self) -> Answer | None:
        self.busy = False
        if self.answer is None:
            raise ServerAway("away")
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

    def run(self, kind: str, wish: str) -> str:
        self.run_.append((kind, wish))
        return self.faults.get(wish, "")

    def reap(self) -> list[tuple[str, str]]:
        ended, self.ended = self.ended, []
        return ended

    def kill(self) -> None:
        self.killed = True


class Desk:
    def __init__(self) -> None:
        self.exchange = FakeExchange()
        self.errands = FakeErrands()
        self.now = 1000.0
        exchange: Exchange = self.exchange  # type: ignore[assignment]  # all that is used of it
        errands: Errands = self.errands  # type: ignore[assignment]  # all that is used of it
        self.wishes = Wishes(exchange, errands, lambda: 1.0)

    def ask(self) -> None:
        """Let time pass until it asks."""
        assert self.wishes.deadline() < NEVER
        self.now = max(self.now, self.wishes.deadline())
        self.wishes.tick(self.now)

    def hear(self, value: object, status: int = 200) -> float:
        """The server answers; how many seconds later it is asked again."""
        if not self.exchange.busy:
            self.ask()
        body = value if isinstance(value, bytes) else json.dumps(value).encode()
        self.exchange.answer = Answer(status, body)
        self.wishes.step(self.now)
        return max(0.0, self.wishes.deadline() - self.now)

    @property
    def last(self) -> tuple[str, str, bytes | None]:
        return self.exchange.requests[-1]


@pytest.fixture
def desk() -> Desk:
    desk = Desk()
    desk.wishes.open(desk.now)
    return desk


def wish(name: Any = "abc1", kind: Any = "stacks") -> dict[str, Any]:
    return {"id": name, "kind": kind}


def answer(*wishes: object, cursor: Any = "life-7") -> dict[str, Any]:
    return {"wishes": list(wishes), "cursor": cursor}


def test_it_asks_only_while_the_program_runs() -> None:
    desk = Desk()
    desk.wishes.tick(desk.now)
    assert (desk.exchange.requests, desk.wishes.deadline()) == ([], NEVER)
    desk.wishes.open(desk.now)
    desk.ask()
    assert desk.exchange.requests == [("GET", WISHES_PATH, None)]
    desk.wishes.close()
    desk.wishes.tick(desk.now)
    assert (desk.exchange.busy, desk.errands.killed) == (False, True)
    assert (len(desk.exchange.requests), desk.wishes.deadline()) == (1, NEVER)


def test_a_program_that_ends_at_once_is_not_asked_for() -> None:
    desk = Desk()
    desk.wishes.open(desk.now)
    desk.wishes.tick(desk.now)
    assert desk.exchange.requests == []
    assert desk.now < desk.wishes.deadline() <= desk.now + YOUNG_S


def test_each_wish_is_seen_to_and_the_next_question_says_so(desk: Desk) -> None:
    assert desk.hear(answer(wish("a"), wish("b"))) == 0
    assert desk.errands.run_ == [("stacks", "a"), ("stacks", "b")]
    desk.ask()
    assert desk.last == ("GET", f"{WISHES_PATH}?after=life-7", None)


@pytest.mark.parametrize(
    "bad",
    [
        wish("../../x"),
        wish("--pid"),
        wish("a b"),
        wish(""),
        wish("a" * 65),
        wish("ä"),
        wish(None),
        wish(7),
        wish(kind="a/b"),
        wish(kind=None),
        "abc",
        None,
        [],
    ],
)
def test_what_is_no_name_comes_on_no_command_line(desk: Desk, bad: object) -> None:
    desk.hear(answer(bad, wish("good")))
    assert desk.errands.run_ == [("stacks", "good")]


@pytest.mark.parametrize(
    "nonsense",
    [
        b"",
        b"<html>",
        [],
        {},
        answer(cursor=None),
        answer(cursor="a\r\nHost: b"),
        {"wishes": 3, "cursor": "a"},
    ],
)
def test_after_nonsense_it_rests_longer_and_longer_and_goes_on(
    desk: Desk, nonsense: object
) -> None:
    rests = [desk.hear(nonsense) for _ in range(20)]
    assert rests == sorted(rests)
    assert [rests[0], rests[-1]] == pytest.approx([0.05, 60])
    assert desk.errands.run_ == []
    desk.hear(answer(wish()))
    assert desk.errands.run_ == [("stacks", "abc1")]


@pytest.mark.parametrize("status", [403, 404, 500])
def test_a_refusal_changes_nothing_else(desk: Desk, status: int) -> None:
    """An old server knows nothing of wishes, and may be replaced while the program runs."""
    rests = [desk.hear({"error": {"status": "NOT_FOUND"}}, status) for _ in range(20)]
    assert rests[-1] == pytest.approx(60)


def test_a_server_that_does_not_lead_is_left_soon(desk: Desk) -> None:
    rests = [desk.hear({"error": {"status": "UNAVAILABLE"}}, 503) for _ in range(20)]
    assert rests[-1] == pytest.approx(5)
    assert not desk.exchange.busy


def test_a_server_that_has_nothing_and_says_so_at_once_is_not_asked_without_end(
    desk: Desk,
) -> None:
    rests = [desk.hear(answer()) for _ in range(10)]
    assert rests == sorted(rests)
    assert rests[-1] == pytest.approx(5)
    desk.ask()
    desk.now += 25  # the question stood
    assert desk.hear(answer()) == 0


def test_while_the_server_is_away_it_rests_at_most_5_seconds(desk: Desk) -> None:
    desk.exchange.away = True
    for _ in range(20):
        desk.ask()
    assert desk.wishes.deadline() - desk.now == pytest.approx(5)
    assert desk.exchange.requests == []
    desk.exchange.away = False
    desk.ask()
    assert desk.exchange.busy


def test_an_answer_that_never_comes_is_waited_for_no_longer_than_its_patience(
    desk: Desk,
) -> None:
    desk.ask()
    begun = desk.now
    while desk.exchange.busy:
        desk.ask()
    assert desk.now == begun + PATIENCE_S
    desk.ask()
    assert len(desk.exchange.requests) == 2


def test_a_question_is_asked_anew_where_another_server_has_come(desk: Desk) -> None:
    desk.ask()
    begun = desk.now
    desk.exchange.elsewhere = True
    desk.ask()
    assert not desk.exchange.busy
    assert desk.now - begun == LOOK_S
    desk.ask()
    assert len(desk.exchange.requests) == 2


def test_what_can_not_be_seen_to_is_told(desk: Desk) -> None:
    desk.errands.faults = {"b": 'it has "too" much to do'}
    desk.hear(answer(wish("a"), wish("b"), wish("c")))
    desk.ask()
    method, path, body = desk.last
    assert (method, path) == ("POST", f"{WISHES_PATH}/b")
    assert json.loads(body or b"") == {"error": 'it has "too" much to do'}
    desk.hear({}, 404)  # nobody waits for it any more
    desk.ask()
    assert desk.last == ("GET", f"{WISHES_PATH}?after=life-7", None)


def test_a_process_that_failed_is_told_though_a_question_stands(desk: Desk) -> None:
    desk.hear(answer(wish("a")))
    desk.ask()
    desk.errands.ended = [("a", "the process for it was ended by signal 9")]
    desk.wishes.tidy()
    desk.wishes.tick(desk.now)
    assert desk.last[:2] == ("POST", f"{WISHES_PATH}/a")


def test_of_processes_that_ended_with_the_program_nothing_is_told(desk: Desk) -> None:
    desk.hear(answer(wish("a")))
    desk.wishes.close()
    desk.errands.ended = [("a", "the process for it was ended by signal 9")]
    desk.wishes.tidy()
    desk.wishes.tick(desk.now)
    assert len(desk.exchange.requests) == 1


@pytest.mark.parametrize("text", ["a", "A-1", "0" * 64])
def test_words(text: str) -> None:
    assert is_word(text)
