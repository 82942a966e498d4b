"""A real supervisor process with a home of its own and a scripted server: for tests."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footplate.protocol.task import CommandTask, Task
from footplate.protocol.ticket import SupervisorTicket
from footplate.replica.isolation.procfs import find_below
from tests.support.deadlines import EVENT_S
from tests.support.replica_api import TOKEN, Record, ReplicaApi

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

_INTERVAL_S = 0.01
_LOADED = """
import sys
del sys.argv[0]
sys.path.insert(0, sys.argv[0])
from footplate.replica import fork_server
from footplate.replica.__main__ import main
fork_server.load()
sys.exit(main(sys.argv[1:]))
"""


def command_task(argv: Sequence[str], **fields: Any) -> dict[str, Any]:
    """The JSON of a task that runs ``argv`` with the supervisor's own interpreter at hand."""
    task = Task(
        CommandTask(tuple(argv)),
        attempt_id="1-1",
        replica="master-replica-0",
        job="projects/p/jobs/j",
        time_limit_s=600.0,
        stop_grace_s=5.0,
    )
    return {**task.encode(), **fields}


def python_task(code: str, *args: str, **fields: Any) -> dict[str, Any]:
    return command_task([sys.executable, "-c", code, *args], **fields)


class Supervised:
    """One replica under test. ``close`` ends whatever it has started."""

    def __init__(
        self,
        directory: Path,
        task: Mapping[str, Any],
        *,
        archive: Path,
        python: str = sys.executable,
        user: int | None = None,
        loaded: bool = False,
        **ticket: Any,
    ) -> None:
        """``user`` owns the home and is who runs the supervisor, if it isn't this one.

        ``loaded``: the supervisor has imported what those from a fork server have.
        """
        self.directory = directory
        self.home = directory / "home"
        self.home.mkdir(parents=True)
        self.api = ReplicaApi(directory / "server.json", dict(task))
        run = ["-c", _LOADED] if loaded else []
        self._command = [python, "-I", "-S", *run, str(archive)]
        self._processes: list[subprocess.Popen[bytes]] = []
        for name in ("buckets", "cache"):
            (directory / name).mkdir()
            ticket.setdefault(name, str(directory / name))
        ticket = {"server_file": str(self.api.server_file), "token": TOKEN, **ticket}
        text = json.dumps(SupervisorTicket(**ticket).encode())
        (self.home / "ticket.json").write_text(text)
        self._identity: dict[str, Any] = {}
        if user is not None:
            self._identity = {"user": user, "group": user, "extra_groups": []}
            for path in (directory, *directory.rglob("*")):
                os.chown(path, user, user)

    @property
    def process(self) -> subprocess.Popen[bytes]:
        return self._processes[-1]

    def run(
        self, command: str = "run", *, pass_fds: Sequence[int] = (), **environment: str
    ) -> subprocess.Popen[bytes]:
        with (self.directory / "supervisor.log").open("ab") as log:
            process = subprocess.Popen(
                [*self._command, command, str(self.home)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**os.environ, **environment},
                start_new_session=True,
                pass_fds=pass_fds,
                **self._identity,
            )
        self._processes.append(process)
        return process

    def supervise(self, **environment: str) -> Record:
        """Run to the end with a server that is there; the exit record."""
        self.api.start()
        self.run("run", pass_fds=(), **environment)
        return self.finish()

    def finish(self, timeout_s: float = EVENT_S) -> Record:
        """Wait for the supervisor's own end; the exit record."""
        try:
            code = self.process.wait(timeout_s)
        except subprocess.TimeoutExpired as error:
            error.add_note(
                f"{self.log()}\n{self.api.describe()}\n{describe_family(self.process.pid)}"
            )
            raise
        assert code == 0, self.log()
        assert not self.api.faults, self.api.faults
        assert self.gone, self.log()
        exit_record = self.api.exit
        assert exit_record is not None, self.api.describe()
        return exit_record

    def sweep(self, timeout_s: float = EVENT_S) -> int:
        return self.run("sweep").wait(timeout_s)

    @property
    def gone(self) -> dict[str, Any] | None:
        path = self.home / "gone"
        return json.loads(path.read_text()) if path.exists() else None

    def log(self) -> str:
        return (self.directory / "supervisor.log").read_text()

    def close(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
                process.wait()
        record = self.home / "isolation.json"
        if record.exists() and self.gone is None:
            self.api.script = lambda _: None
            self.api.token = "nobody's"  # so that the sweep gives up delivery
            if self.api.stopped:
                self.api.start()
            self.sweep()
        self.api.stop()


def describe_family(pid: int) -> str:
    """What a process that should have ended, and each of its descendants, waits for."""
    lines = []
    for each in [pid, *find_below(pid)]:
        words = [str(each)]
        for name in ("cmdline", "wchan", "syscall", "stack"):
            with suppress(OSError):
                text = Path(f"/proc/{each}/{name}").read_bytes().replace(b"\0", b" ").decode()
                words.append(f"{name}: {text[-300:].strip()}")
        lines.append("; ".join(words))
    return "\n".join(lines)


def wait_until(condition: Callable[[], bool], what: str, timeout_s: float = EVENT_S) -> None:
    """Look again and again; AssertionError naming ``what`` if it doesn't come."""
    end = time.monotonic() + timeout_s
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(_INTERVAL_S)


def find_living(word: str) -> list[int]:
    """Processes with ``word`` in their command line, zombies apart."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if word.encode() in (directory / "cmdline").read_bytes():
                found.append(int(directory.name))
    return found
