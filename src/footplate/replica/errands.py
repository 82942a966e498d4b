"""Short-lived processes beside the program, each of which sees to one wish of the server.

``supervisor.pyz KIND HOME ID``: such a process reads what it needs in HOME and answers by itself.
It is outside the program's isolation, in a session of its own.
"""

from __future__ import annotations

import os
import signal

from footplate.replica.isolation.processes import find, find_descendants, kill
from footplate.replica.isolation.spawn import Launch, SpawnFailed, execute, spawn

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping, Sequence

    from footplate.replica.isolation.processes import Process

AT_ONCE = {"stacks": 2, "shell": 16}
"""The kinds of wishes, and how many of each are seen to at the same time."""


class Errand:
    __slots__ = ("kind", "process", "wish")

    def __init__(self, kind: str, wish: str, process: Process) -> None:
        self.kind = kind
        self.wish = wish
        self.process = process


class Errands:
    """``command`` starts the supervisor's archive; ``host`` is the environment it was given."""

    def __init__(self, home: str, command: Sequence[str], host: Mapping[str, str]) -> None:
        self._home = home
        self._command = list(command)
        self._host = host
        self._running: list[Errand] = []

    def run(self, kind: str, wish: str) -> str:
        """See to a wish; why that can't be, empty if it can."""
        limit = AT_ONCE.get(kind)
        if limit is None:
            return f"its supervisor knows no wish of the kind {kind}"
        if sum(errand.kind == kind for errand in self._running) >= limit:
            return f"its supervisor sees to {limit} wishes of the kind {kind} already"
        launch = Launch([*self._command, kind, self._home, wish], dict(self._host), "/", 1, 2)

        def body(_: int) -> None:
            os.setsid()
            execute(launch)

        try:
            pid = spawn(body)
        except (SpawnFailed, OSError) as error:
            return f"its supervisor can't start a process for it: {error}"
        process = find(pid)
        if process is not None:
            self._running.append(Errand(kind, wish, process))
        return ""

    def reap(self) -> list[tuple[str, str]]:
        """Those wishes whose processes have failed, perhaps without an answer, and how."""
        failures = []
        for errand in tuple(self._running):
            try:
                pid, status = os.waitpid(errand.process.pid, os.WNOHANG)
            except ChildProcessError:  # on the rung subreaper the cage may be faster
                pid, status = errand.process.pid, 0
            if pid:
                self._running.remove(errand)
            if pid and status:
                failures.append((errand.wish, f"the process for it {_describe(status)}"))
        return failures

    def kill(self) -> None:
        """End all, with what they have started, in sessions of its own too; ``reap`` finds them.

        What a shell left to itself is the cage's to end.
        """
        for errand in self._running:
            now = find(errand.process.pid)
            if now is not None and now.start == errand.process.start:
                below = find_descendants(now.pid)
                os.killpg(now.pid, signal.SIGKILL)
                for process in below:
                    kill(process)


def _describe(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"was ended by signal {os.WTERMSIG(status)}"
    return f"ended with code {os.WEXITSTATUS(status)}"
