"""A launcher that was ended alone: its engine goes on with the job, and says nothing of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.backends.engine.engine import EngineJob
from footplate.backends.engine.start_ends import ALONE_S
from footplate.ports.backend import EndCause, Presence
from tests.support.backend_rig import WORKERS, all_are, make_request, make_restart, see
from tests.support.fake_engine import FakeEngine, make_backend
from tests.support.local_backend import wait_until

REGION, JOB = "europe-west4", "1"
REQUEST = make_request("u-1", WORKERS[:2])


class CountingEngine(FakeEngine):
    asks = 0

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        self.asks += 1
        return super().list(prefix)


class Desk:
    """A gang of two is live; then the launcher of the second one says that it has ended."""

    def __init__(self, root: Path) -> None:
        self.now_s = 1000.0
        self.engine = CountingEngine()
        self.backend, self.calls = make_backend(REGION, root, self.engine, lambda: self.now_s)
        self.backend.start(REQUEST)
        self.look()
        self.engine.begin_job(JOB, 0.0)
        self.call()
        self.call()
        assert all_are(self.backend, REQUEST, Presence.LIVE)

    def call(self) -> None:
        for launcher in self.engine.launchers:
            launcher.call(self.calls, 0.0)

    def end_launcher(self) -> None:
        launcher = self.engine.launchers[1]
        launcher.ending = "signal 15"
        launcher.exit()
        self.calls.exchange(launcher.token, launcher.report())
        launcher.left = True
        self.look()
        assert self.presences == [Presence.LIVE, Presence.LOST]

    def look(self, after_s: float = 1.0) -> None:
        """The backend asks its engine, and does what follows from that."""
        self._ask(after_s)
        self._ask(1.0)  # after all that followed from the first question

    def _ask(self, after_s: float) -> None:
        asks = self.engine.asks
        self.now_s += after_s
        wait_until(lambda: self.engine.asks > asks)

    @property
    def presences(self) -> list[Presence]:
        return [each.presence for each in see(self.backend, REQUEST)]


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "replicas")
    yield desk
    desk.backend.close()


def test_its_replica_is_gone_and_starts_again_elsewhere(desk: Desk) -> None:
    desk.end_launcher()
    desk.look(ALONE_S)
    assert desk.presences == [Presence.LIVE, Presence.GONE]
    assert "has ended: signal 15" in see(desk.backend, REQUEST)[1].reason
    desk.backend.start(make_restart(REQUEST, WORKERS[1]))
    desk.look()
    desk.engine.begin_job("2", 0.0)
    desk.call()
    desk.call()
    assert all_are(desk.backend, REQUEST, Presence.LIVE)


def test_an_engine_that_ends_the_job_says_why(desk: Desk) -> None:
    desk.engine.jobs[JOB] = replace(desk.engine.jobs[JOB], ending=True)
    desk.end_launcher()
    desk.look(2 * ALONE_S)
    assert desk.presences == [Presence.LIVE, Presence.LOST]
    desk.engine.end_job(JOB, EndCause.CANCELLED)
    desk.look()
    assert all_are(desk.backend, REQUEST, Presence.GONE)
    assert all(each.cause is EndCause.CANCELLED for each in see(desk.backend, REQUEST))


def test_an_engine_that_does_not_answer_proves_nothing(desk: Desk) -> None:
    desk.end_launcher()
    desk.engine.down = True
    desk.look(2 * ALONE_S)
    assert desk.presences == [Presence.LIVE, Presence.LOST]
