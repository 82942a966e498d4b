"""Short-lived processes beside the program, one for each control request.

``supervisor.pyz KIND HOME ID``: such a process reads what it needs in HOME and answers by itself.
It is outside the program's isolation, in a session of its own.
"""

from __future__ import annotations

import os
import signal

from footplate.replica.isolation.procfs import find, find_descendants, kill
from footplate.replica.isolation.spawn import Launch, SpawnFailed, execute, spawn

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping, Sequence

    from footplate.replica.isolation.procfs import Process

AT_ONCE = {"stacks": 2, "shell": 16}
"""The kinds of control requests, and how many of each are handled at the same time."""


class BackgroundTask:
    __slots__ = ("control_request", "kind", "process")

    def __init__(self, kind: str, control_request: str, process: Process) -> None:
        self.kind = kind
        self.control_request = control_request
        self.process = process


class BackgroundTasks:
    """The processes that carry out the server's control requests. ``command`` starts the
    supervisor's archive; ``host`` is the environment that the supervisor was given.
    """

    def __init__(self, home: str, command: Sequence[str], host: Mapping[str, str]) -> None:
        self._home = home
        self._command = list(command)
        self._host = host
        self._running: list[BackgroundTask] = []

    def run(self, kind: str, control_request: str) -> str:
        """Starts a process for a control request; returns why that fails, or ''."""
        limit = AT_ONCE.get(kind)
        if limit is None:
            return f"the replica's supervisor does not support control requests of kind {kind}"
        if sum(background_task.kind == kind for background_task in self._running) >= limit:
            return (
                f"the replica's supervisor already runs {limit} requests of kind {kind}; try "
                "again later"
            )
        launch = Launch(
            [*self._command, kind, self._home, control_request], dict(self._host), "/", 1, 2
        )

        def body(_: int) -> None:
            os.setsid()
            execute(launch)

        try:
            pid = spawn(body)
        except (SpawnFailed, OSError) as error:
            return f"the supervisor can't start a process for the request: {error}"
        process = find(pid)
        if process is not None:
            self._running.append(BackgroundTask(kind, control_request, process))
        return ""

    def reap(self) -> list[tuple[str, str]]:
        """Returns the requests whose processes have failed, and how."""
        failures = []
        for background_task in tuple(self._running):
            try:
                pid, status = os.waitpid(background_task.process.pid, os.WNOHANG)
            except (
                ChildProcessError
            ):  # on the containment mode subreaper the containment may be faster
                pid, status = background_task.process.pid, 0
            if pid:
                self._running.remove(background_task)
            if pid and status:
                failures.append(
                    (
                        background_task.control_request,
                        (f"the process for the request {_describe(status)}"),
                    )
                )
        return failures

    def kill(self) -> None:
        """Kills all processes and their sessions; ``reap`` collects them.

        Processes that a shell left behind end with the containment.
        """
        for background_task in self._running:
            now = find(background_task.process.pid)
            if now is not None and now.start == background_task.process.start:
                # Before the kill: afterwards the children of what was killed have another parent.
                below = find_descendants(now.pid)
                os.killpg(now.pid, signal.SIGKILL)
                for process in below:
                    kill(process)


def _describe(status: int) -> str:
    if os.WIFSIGNALED(status):
        return f"was ended by signal {os.WTERMSIG(status)}"
    return f"ended with code {os.WEXITSTATUS(status)}"
