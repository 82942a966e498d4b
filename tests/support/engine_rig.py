"""A backend over a real engine and stand-in supervisors, and what turns their world."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
import signal
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse

from footplate.api.errors import answer_service_error
from footplate.api.launcher_v1 import launcher_routes
from footplate.backends.engine import EngineBackend, LauncherSettings
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.launcher_calls import LauncherCalls
from footplate.backends.engine.launcher_tokens import LauncherTokens
from footplate.backends.engine.warm_launchers import WarmLaunchers, WarmSettings
from footplate.domain.errors import ServiceError
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.supervisor_archive import build_archive
from tests.support import fake_supervisor
from tests.support.http_server import serve
from tests.support.launcher_processes import find_launchers, find_with_parents
from tests.support.local_backend import wait_until

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send

    from footplate.backends.engine.engine import Engine
    from footplate.domain.names import AttemptId

REGION = "europe-west4"
PATIENCE_S = 240.0
"""Engines poll, and start processes on their own."""


class Door:
    """In front of the server: while ``closed``, nothing comes to an answer."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self.closed = False
        self.calls = 0
        """How many are being answered."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self.closed and scope["type"] == "http":
            await PlainTextResponse("away", 503)(scope, receive, send)
            return
        self.calls += scope["type"] == "http"
        try:
            await self._app(scope, receive, send)
        finally:
            self.calls -= scope["type"] == "http"


class EngineRig:
    """Everything lies below ``folder``; nodes have their scratch in ``scratch`` there.

    ``archives``: where the launcher's archive is made once, for all rigs of an engine.
    ``host``: the address of this machine that the engine's nodes reach.
    """

    def __init__(
        self,
        engine: Engine,
        folder: Path,
        archives: Path,
        *,
        host: str = "127.0.0.1",
        lease_s: float = 600.0,
        margin_s: float = 60.0,
        fence: tuple[str, ...] = (),
        keep_warm_s: float = 0.0,
        supervisor: Path | None = None,
        make_ticket: Callable[..., SupervisorTicket] = SupervisorTicket,
    ) -> None:
        self.service = secrets.token_hex(4)  # engines remember the jobs of earlier rigs
        self.root = folder / "replicas"
        self.scratch = folder / "scratch"
        self.scratch.mkdir(mode=0o700)
        self._archives = self.scratch / "archives"
        self._archives.mkdir(mode=0o700)
        self._launcher = build_archive(archives)
        self._supervisor = supervisor or Path(fake_supervisor.__file__)
        self._lease_s, self._margin_s, self._fence = lease_s, margin_s, fence
        self._tokens = LauncherTokens(b"a key of a test")
        files = dict(self._digests())
        warm = WarmLaunchers(REGION, self._tokens, WarmSettings(keep_warm_s, self.service))
        self.calls = LauncherCalls(
            self._tokens,
            {REGION: AttemptFiles(self.root)},
            {REGION: make_ticket},
            files,
            {REGION: warm} if keep_warm_s else {},
        )
        self.door = Door(
            Starlette(
                routes=launcher_routes(self.calls),
                exception_handlers={ServiceError: answer_service_error},
            )
        )
        self.served = serve(self.door, host=host)
        self.url = self.served.__enter__()
        self.engine = engine
        self.backend = self.make_backend()

    def _digests(self) -> tuple[tuple[str, Path], ...]:
        paths = (self._launcher, self._supervisor)
        return tuple((hashlib.sha256(path.read_bytes()).hexdigest(), path) for path in paths)

    def make_backend(self) -> EngineBackend:
        (launcher, _), (supervisor, _) = self._digests()
        return EngineBackend(
            name=REGION,
            service=self.service,
            engine=self.engine,
            settings=LauncherSettings(
                url=lambda: self.url,
                authority=lambda: "",
                archive=launcher,
                supervisor=supervisor,
                scratch=str(self.scratch),
                lease_s=self._lease_s,
                margin_s=self._margin_s,
                fence=self._fence,
            ),
            tokens=self._tokens,
            calls=self.calls,
            poll_s=0.2,
        )

    def directory(self, attempt_id: str, replica: str) -> Path:
        """The launcher's, of the replica's newest allocation."""
        found = (self.scratch / "launchers").glob(f"{attempt_id}.{replica}.*")
        return max(found, key=lambda path: int(path.name.rpartition(".")[2]))

    def home(self, attempt_id: str, replica: str) -> Path:
        """Of the replica's newest start."""
        homes = self.directory(attempt_id, replica).glob("home~*")
        return max(homes, key=lambda path: int(path.name.partition("~")[2]))

    def pid(self, attempt_id: str, replica: str) -> int:
        """Of a live supervisor."""
        file = self.home(attempt_id, replica) / "pid"
        wait_until(lambda: bool(file.read_text()))
        return int(file.read_text())

    def hold(self) -> None:
        (self._archives / "hold").touch()

    def admit(self) -> None:
        (self._archives / "hold").unlink(missing_ok=True)

    def settle(self, condition: Callable[[], bool]) -> None:
        wait_until(condition, PATIENCE_S)

    def finish(self, attempt_id: AttemptId, replica: str) -> None:
        os.kill(self.pid(attempt_id, replica), signal.SIGUSR1)

    def kill(self, attempt_id: AttemptId, replica: str) -> None:
        os.kill(self.pid(attempt_id, replica), signal.SIGKILL)

    def reopen(self) -> None:
        self.backend.close()
        self.backend = self.make_backend()

    def runs(self, attempt_id: AttemptId) -> int:
        files = (self.scratch / "launchers").glob(f"{attempt_id}.*/home~*/runs")
        return sum(len(file.read_text().splitlines()) for file in files)

    def launcher_directories(self, attempt_id: str, replica: str = "*") -> str:
        return f"{self.scratch}/launchers/{attempt_id}.{replica}.*"

    def launcher_pids(self, attempt_id: str) -> tuple[int, ...]:
        """The live launchers of an attempt."""
        return find_launchers(self.launcher_directories(attempt_id))

    def launcher_with_parent(self, attempt_id: str, replica: str) -> tuple[int, int]:
        directories = self.launcher_directories(attempt_id, replica)
        [launcher] = find_launchers(directories)
        return launcher, find_with_parents(directories)[launcher]

    def kill_part(self, attempt_id: AttemptId, replica: str, part: str) -> None:
        """``launcher``, ``parent``, or the whole ``task``."""
        if part == "task":
            self.kill_task(attempt_id, replica)
        else:
            launcher, parent = self.launcher_with_parent(attempt_id, replica)
            os.kill(launcher if part == "launcher" else parent, signal.SIGKILL)

    def kill_task(self, attempt_id: AttemptId, replica: str) -> None:
        """All that the engine runs for the replica, or what makes the engine end that."""
        raise NotImplementedError

    def end_jobs(self) -> None:
        """End all that the engine has of the rig."""
        raise NotImplementedError

    def close(self) -> None:
        """End the backend and all of Slurm's jobs."""
        self.backend.close()
        (self._archives / "break").touch()
        self.admit()
        self.end_jobs()
        self.served.__exit__(None, None, None)
        shutil.rmtree(self.scratch, ignore_errors=True)
