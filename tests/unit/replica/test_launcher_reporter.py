"""When a launcher reports, how long its reports may be held, and what follows each answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from footplate.protocol.launcher import LauncherAnswer, LauncherReport
from footplate.replica.http_client import Refused, ServerUnavailable
from footplate.replica.launcher.background_call import BackgroundCall, NoThread, Wake
from footplate.replica.launcher.reporter import Reporter
from footplate.replica.launcher.server_link import Post

STOP: dict[str, Any] = {"stop": True}
NO_NEWS: dict[str, Any] = {}


class Call(BackgroundCall):
    """A request that ends when the test says so."""

    def __init__(self, post: Post) -> None:
        self.post, self.done = post, False
        self.end: Any = NO_NEWS

    def finish(self, end: Any) -> None:
        """Gives the request its answer, or its error."""
        self.done, self.end = True, end

    def result(self) -> Any:
        if isinstance(self.end, Exception):
            raise self.end
        return self.end

    def cancelled(self) -> bool:
        return self.post._cancelled


class World:
    """A reporter with a clock and requests that the test moves."""

    def __init__(self, lease_s: float = 40) -> None:
        self.now_s = 1000.0
        self.calls: list[Call] = []
        self.reporter = Reporter(self._send, lease_s, lambda: self.now_s)

    def _send(self, post: Post) -> Call:
        self.calls.append(Call(post))
        return self.calls[-1]

    def report(self, state: str) -> LauncherReport:
        report = LauncherReport(0, state)
        self.reporter.report(report)
        return report

    def answer(self, state: str, end: Any) -> LauncherAnswer | None:
        self.calls[-1].finish(end)
        return self.reporter.receive(state)

    def wait_s(self, state: str, most_s: float = 10) -> float:
        """Returns how long it takes until a report of the state is due."""
        began_s = self.now_s
        while not self.reporter.is_due(state):
            self.now_s += 0.1
            if self.now_s > began_s + most_s:
                return float("inf")
        return round(self.now_s - began_s, 1)


@pytest.fixture
def world() -> World:
    return World()


def test_one_report_is_on_its_way_at_a_time(world: World) -> None:
    assert world.reporter.is_due("IDLE")
    world.report("IDLE")
    assert not world.reporter.is_due("GONE")
    assert world.answer("IDLE", NO_NEWS) == LauncherAnswer()
    assert world.reporter.receive("IDLE") is None  # an answer is returned once
    assert world.reporter.is_due("IDLE")


@pytest.mark.parametrize(("state", "after_s"), [("STARTING", 0.5), ("LIVE", 0.5), ("GONE", 0)])
def test_a_state_that_may_soon_change_is_reported_later(
    world: World, state: str, after_s: float
) -> None:
    assert world.wait_s(state) == after_s


def test_a_short_job_is_reported_once(world: World) -> None:
    assert not world.reporter.is_due("STARTING")
    world.now_s += 0.2
    assert not world.reporter.is_due("LIVE")
    assert world.reporter.is_due("GONE")


@pytest.mark.parametrize(
    ("state", "hold_s"), [("IDLE", 10), ("LIVE", 10), ("GONE", 10), ("STARTING", 0), ("LOST", 0)]
)
def test_the_server_may_hold_what_does_not_change_soon(
    world: World, state: str, hold_s: float
) -> None:
    """A state that changes would cancel the request, and cost a connection."""
    assert world.report(state).hold_s == hold_s
    world.answer(state, NO_NEWS)
    assert world.report(state).hold_s == 10  # it has stayed the same


def test_a_request_is_never_held_for_longer_than_the_lease_lets_it() -> None:
    assert World(lease_s=4).report("IDLE").hold_s == 1
    assert World(lease_s=4000).report("IDLE").hold_s == 20


def test_a_held_request_is_given_up_when_its_state_is_out_of_date(world: World) -> None:
    world.report("LIVE")
    assert world.reporter.receive("LIVE") is None
    assert not world.calls[0].cancelled()
    assert world.reporter.receive("GONE") is None
    assert world.calls[0].cancelled()
    assert world.reporter.is_due("GONE")


def test_a_request_that_is_answered_at_once_is_not_given_up(world: World) -> None:
    world.report("STARTING")
    assert world.reporter.receive("LIVE") is None
    assert not world.calls[0].cancelled()


def test_a_state_that_is_no_news_to_the_server_may_change_before_the_next_report(
    world: World,
) -> None:
    world.report("STARTING")
    world.answer("STARTING", NO_NEWS)
    world.now_s += 0.4
    assert not world.reporter.is_due("STARTING")
    assert world.reporter.is_due("GONE")


def test_after_an_order_the_next_report_is_due_at_once(world: World) -> None:
    assert world.wait_s("STARTING") == 0.5
    world.report("STARTING")
    assert world.answer("STARTING", STOP) == LauncherAnswer(stop=True)
    assert world.wait_s("STARTING") == 0


@pytest.mark.parametrize(
    "error", [ServerUnavailable("away"), NoThread("too many"), Refused(404, "no"), {"leave": "x"}]
)
def test_a_report_without_an_answer_is_made_again_ever_later(
    world: World, error: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """An answer of another server, or of a proxy, renews no lease."""
    waits = []
    for _ in range(5):
        world.report("IDLE")
        assert world.answer("IDLE", error) is None
        waits.append(world.wait_s("IDLE"))
    assert waits == pytest.approx([0.2, 0.4, 0.8, 1.6, 2.0], abs=0.15)
    assert world.reporter.unanswered_s == pytest.approx(world.now_s - 1000)
    assert len(capsys.readouterr().err.splitlines()) == 5
    world.report("IDLE")
    world.answer("IDLE", STOP)
    world.report("IDLE")
    world.answer("IDLE", error)
    assert world.wait_s("IDLE") == pytest.approx(0.2, abs=0.15)


@pytest.mark.parametrize("status", [401, 403])
def test_a_launcher_that_the_server_does_not_know_leaves(world: World, status: int) -> None:
    world.report("IDLE")
    assert world.answer("IDLE", Refused(status, "who?")) == LauncherAnswer(leave=True)
    world.now_s += 1
    assert world.reporter.unanswered_s == 1


def test_a_request_that_takes_too_long_is_made_again(
    world: World, capsys: pytest.CaptureFixture[str]
) -> None:
    world.report("IDLE")
    world.now_s += 20  # half the lease
    assert world.reporter.receive("IDLE") is None
    assert not world.calls[0].cancelled()
    world.now_s += 2
    assert world.reporter.receive("IDLE") is None
    assert world.calls[0].cancelled()
    assert "doesn't answer in time" in capsys.readouterr().err
    assert world.wait_s("IDLE") == pytest.approx(0.2, abs=0.15)


def test_the_lease_counts_from_when_the_report_was_sent(world: World) -> None:
    """The server counts from when it got the report."""
    world.now_s += 5
    world.report("IDLE")
    world.now_s += 3
    assert world.reporter.unanswered_s == 8
    world.answer("IDLE", NO_NEWS)
    assert world.reporter.unanswered_s == 3


class Woken(Wake):
    """Ends the last request, or lets the time pass."""

    def __init__(self, world: World, end: Any) -> None:
        self._world, self._end = world, end

    def wait(self, timeout_s: float) -> None:
        self._world.now_s += timeout_s
        if self._end is not None:
            self._world.calls[-1].finish(self._end)


@pytest.mark.parametrize(
    ("end", "took_s"), [(NO_NEWS, 1), (ServerUnavailable("away"), 1), (None, 20)]
)
def test_the_last_report_replaces_the_one_on_its_way(world: World, end: Any, took_s: float) -> None:
    world.report("LIVE")
    world.reporter.report_last(LauncherReport(0, "GONE"), Woken(world, end))
    assert world.calls[0].cancelled()
    assert json.loads(world.calls[1].post.body)["state"] == "GONE"
    assert json.loads(world.calls[1].post.body)["hold_s"] == 0
    assert world.now_s == 1000 + took_s
