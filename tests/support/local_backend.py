"""A local backend over stand-in supervisors, and what turns their world."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import footplate
from footplate.backends.local import LocalBackend
from footplate.backends.local.fork_server import ForkServer
from footplate.backends.local.process_watcher import make_process_watcher
from tests.support import fake_supervisor

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.backends.local.process_watcher import ProcessWatcher
    from footplate.domain.names import AttemptId

TIMEOUT_S = 60.0
"""Longer than anything takes on a machine that is busy with other tests."""


def wait_until(condition: Callable[[], bool], timeout_s: float = TIMEOUT_S) -> None:
    """Raises:
    AssertionError: the condition didn't come to hold.
    """
    end_s = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end_s, "waited in vain"
        time.sleep(0.005)


def make_ready_fork_server(archive: Path) -> ForkServer:
    """It is ready once it has forked something: a supervisor whose HOME isn't there."""
    fork_server = ForkServer(Path(sys.executable), archive)
    nowhere = archive.with_name("nowhere")
    with open(os.devnull, "r+b") as null:
        descriptor = null.fileno()
        wait_until(lambda: fork_server.fork(nowhere, descriptor, descriptor) is not None)
    return fork_server


class LocalRig:
    """Everything lies below ``folder``: ``root`` of the HOMEs, and ``stand_in.py``'s own."""

    def __init__(
        self,
        folder: Path,
        watcher: Callable[[], ProcessWatcher] = make_process_watcher,
        *,
        fork_server: bool = False,
    ) -> None:
        """With a ``fork_server`` all supervisors come from it: it is ready when this returns."""
        self.root = folder / "replicas"
        self.folder = folder / "supervisor"
        self.folder.mkdir(parents=True)
        self.archive = self.folder / "stand_in.py"
        shutil.copy(fake_supervisor.__file__, self.archive)
        (self.folder / "source").write_text(str(Path(footplate.__file__).parents[1]))
        self._exits = watcher
        self._nursed = fork_server
        self.backend = self.make_backend()

    def make_backend(self) -> LocalBackend:
        """A fork server that is there already goes on until its backend ends."""
        data = self.root.parent
        self.fork_server = make_ready_fork_server(self.archive) if self._nursed else None
        return LocalBackend(
            root=self.root,
            archive=self.archive,
            python=Path(sys.executable),
            server_file=data / "server.json",
            cache=data / "cache",
            buckets=data / "buckets",
            uv=Path("/usr/bin/uv"),
            py_spy=Path("/usr/bin/py-spy"),
            fork_server=self.fork_server,
            watcher=self._exits,
        )

    def home(self, attempt_id: str, replica: str) -> Path:
        """Of its newest start."""
        restarts = (self.root / attempt_id).glob(f"{replica}~*")
        newest = max(restarts, key=lambda path: int(path.name.partition("~")[2]), default=None)
        return newest or self.root / attempt_id / replica

    def pid(self, attempt_id: str, replica: str) -> int:
        """Of a live supervisor."""
        file = self.home(attempt_id, replica) / "pid"
        wait_until(lambda: bool(file.read_text()))
        return int(file.read_text())

    def hold(self) -> None:
        (self.folder / "hold").touch()

    def admit(self) -> None:
        (self.folder / "hold").unlink(missing_ok=True)

    def settle(self, condition: Callable[[], bool]) -> None:
        wait_until(condition)

    def finish(self, attempt_id: AttemptId, replica: str) -> None:
        os.kill(self.pid(attempt_id, replica), signal.SIGUSR1)

    def kill(self, attempt_id: AttemptId, replica: str) -> None:
        os.kill(self.pid(attempt_id, replica), signal.SIGKILL)

    def reopen(self) -> None:
        self.backend.close()
        self.backend = self.make_backend()

    def runs(self, attempt_id: AttemptId) -> int:
        files = (self.root / attempt_id).glob("*/runs")
        return sum(len(file.read_text().splitlines()) for file in files)

    def close(self) -> None:
        """End the backend, and every process that it started."""
        self.backend.close()
        (self.folder / "break").touch()  # for those so young that they can't be found yet
        for pid in find_processes(self.archive):
            try:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except (ProcessLookupError, ChildProcessError):
                continue  # it is dead already, or another process is to reap it


def find_processes(archive: Path) -> tuple[int, ...]:
    """The live processes that run ``archive``, whoever started them."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            arguments = (entry / "cmdline").read_bytes().split(b"\0")
        except (FileNotFoundError, NotADirectoryError, ProcessLookupError, PermissionError):
            continue
        if os.fsencode(archive) in arguments:
            found.append(int(entry.name))
    return tuple(found)
