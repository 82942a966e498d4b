"""A backend above the engine in memory, and its launchers, on one clock that tests move on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footplate.backends.engine import EngineBackend, LauncherSettings
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.backend import DEFAULT_POLL_S
from footplate.backends.engine.engine import JobPhase
from footplate.backends.engine.launcher_calls import LauncherCalls
from footplate.backends.engine.launcher_tokens import LauncherBearer, LauncherTokens
from footplate.backends.engine.lost_nodes import MAX_CLOCK_GAP_S
from footplate.backends.engine.warm_launchers import WarmLaunchers
from footplate.protocol.ticket import SupervisorTicket
from tests.support.fake_engine import LEASE_S, FakeEngine

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.backends.engine.warm_launchers import WarmSettings
    from footplate.ports.backend import AttemptStart, Presence
    from tests.support.fake_engine import FakeLauncher

REGION = "europe-west4"
MARGIN_S = 30.0


class HandDriven(EngineBackend):
    """Its thread's work is done by the caller of ``turn``."""

    def _open(self) -> None:
        self._files.open()

    def begin_term(self) -> None:
        """As a server does that takes the lead."""
        self._files.open()
        self._ended.open()

    def look_at_clock(self) -> None:
        """As it does every two seconds; what it doesn't look at doesn't count."""
        self._allocations.ask()

    def turn(self) -> None:
        self._allocations.ask()
        self._allocations.advance_all(self._files.attempts(), asked=True)


class World:
    """The backend, its engine, and the launchers that run there, on one clock."""

    def __init__(self, folder: Path, *, warm: WarmSettings | None = None, **settings: Any) -> None:
        """Create it; ``settings`` are those of ``LauncherSettings``."""
        self.now_s = 1000.0
        self.settings = settings
        self.engine = FakeEngine()
        self.root = folder / "replicas"
        self.files = AttemptFiles(self.root)
        self.tokens = LauncherTokens(b"a key")
        self.warm = warm
        self.calls = self._make_calls()
        self.backend = self.make_backend()
        self.requests: dict[str, AttemptStart] = {}
        self.stopped: set[str] = set()

    def _make_calls(self) -> LauncherCalls:
        warm = {} if self.warm is None else {REGION: self._make_warm(self.warm)}
        return LauncherCalls(
            self.tokens, {REGION: self.files}, {REGION: SupervisorTicket}, {}, warm
        )

    def _make_warm(self, settings: WarmSettings) -> WarmLaunchers:
        return WarmLaunchers(REGION, self.tokens, settings, lambda: self.now_s, lambda: self.now_s)

    def restart_server(self) -> None:
        """Its connections end, and launchers call again."""
        self.calls = self._make_calls()
        self.backend = self.make_backend()
        for launcher in self.engine.launchers:
            if launcher.let_go is not None:
                launcher.let_go = self.calls.hold(launcher.token, lambda: None)

    def make_backend(self) -> HandDriven:
        launchers = LauncherSettings(
            url=lambda: "http://127.0.0.1:1",
            authority=lambda: "",
            archive="0",
            supervisor="0",
            lease_s=LEASE_S,
            margin_s=MARGIN_S,
            **self.settings,
        )
        return HandDriven(
            name=REGION,
            service="x",
            engine=self.engine,
            settings=launchers,
            tokens=self.tokens,
            calls=self.calls,
            monotonic=lambda: self.now_s,
        )

    def start(self, request: AttemptStart) -> None:
        self.requests[request.attempt_id] = request
        self.backend.start(request)

    def turn(self, seconds: float = DEFAULT_POLL_S) -> None:
        """Time goes on; launchers call, and the backend looks."""
        self.pass_time(seconds)
        for launcher in self.engine.launchers:
            launcher.call(self.calls, self.now_s)
        self.engine.settle()
        self.backend.turn()

    def pass_time(self, seconds: float) -> None:
        """Nothing happens, and the server is there."""
        end_s = self.now_s + seconds
        while end_s - self.now_s > MAX_CLOCK_GAP_S:
            self.now_s += MAX_CLOCK_GAP_S
            self.backend.look_at_clock()
        self.now_s = end_s

    def schedule(self) -> None:
        for job in tuple(self.engine.jobs.values()):
            if job.phase is JobPhase.WAITING:
                self.engine.begin_job(job.id, self.now_s)

    def heal(self) -> None:
        self.engine.down = self.engine.loses_answer = False
        self.engine.refuses = ""
        self.engine.hidden.clear()
        for launcher in self.engine.launchers:
            self.engine.reach(launcher, reachable=True)

    def presences(self, attempt_id: str) -> dict[str, Presence]:
        seen = (each for each in self.backend.list() if each.attempt_id == attempt_id)
        return {each.replica: each.presence for each in seen}

    def launchers_of(self, attempt_id: str, replica: str) -> list[FakeLauncher]:
        return [
            each
            for each in self.engine.launchers
            if each.replica == replica and self.served_by(each) == attempt_id
        ]

    def served_by(self, launcher: FakeLauncher) -> str:
        """The attempt whose replica it serves; '' while it waits for one."""
        bearer = self.tokens.check(launcher.token)
        return bearer.attempt_id if isinstance(bearer, LauncherBearer) else ""

    def check(self) -> None:
        for attempt_id in self.requests:
            attempt = self.files.load(self.requests[attempt_id].attempt_id)
            assert attempt is not None
            for name, replica in attempt.replicas.items():
                launchers = self.launchers_of(attempt_id, name)
                starts = [number for each in launchers for number in each.starts]
                assert len(set(starts)) == len(starts), f"{name} was started twice: {starts}"
                live = [each for each in launchers if each.live]
                assert len(live) <= 1, f"{name} runs twice"
                gone = replica.gone is not None
                assert not (gone and live), f"{name} is gone and runs: {replica.gone}"
