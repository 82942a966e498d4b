"""Starts, identifies and signals supervisor processes, which outlive this server."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from footplate.backends.local import untrusted_files
from footplate.backends.local.fork_server import FLAGS, ForkServer
from footplate.backends.local.replica_directory import Home
from footplate.domain.errors import Unavailable

_MOST_BYTES = 1 << 16
"""The most of a command line: a process that isn't a supervisor chooses its length."""


@dataclass(frozen=True)
class Launcher:
    """Starts commands of the supervisor's ``archive`` with the interpreter ``python``.

    Uses the ``fork_server`` for supervisors if it can.
    """

    python: Path
    archive: Path
    fork_server: ForkServer | None = None

    def check(self) -> None:
        """Raises Unavailable if nothing can be started now; the message says what is missing."""
        if not os.access(self.python, os.X_OK):
            raise Unavailable(
                f"the server can't run {self.python}, the Python interpreter for supervisors; "
                "install footplate again"
            )
        if not self.archive.is_file():
            raise Unavailable(
                f"the supervisors' program, {self.archive}, is missing; start the server again"
            )

    def run(self, home: Home, spawn_lock: int) -> int:
        """Starts the supervisor, which holds ``spawn_lock`` until it ends; returns its pid.

        Raises:
            OSError: the supervisor can't be started now; as ForkUncertain, it may have been
                started.
        """
        output = _open_log(home)
        try:
            pid = None
            if self.fork_server is not None:
                pid = self.fork_server.fork(home.path, spawn_lock, output)
            return pid or self._spawn("run", home, output, (spawn_lock,))
        finally:
            os.close(output)

    def sweep(self, home: Home) -> int:
        """Starts the program that cleans up after a dead supervisor; returns its pid.

        Raises:
            OSError: the program can't be started now.
        """
        output = _open_log(home)
        try:
            return self._spawn("sweep", home, output, ())
        finally:
            os.close(output)

    def close(self) -> None:
        """Closes the fork server; supervisors keep running."""
        if self.fork_server is not None:
            self.fork_server.close()

    def _spawn(self, verb: str, home: Home, output: int, descriptors: tuple[int, ...]) -> int:
        process = subprocess.Popen(
            [self.python, *FLAGS, self.archive, verb, home.path],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd="/",
            start_new_session=True,
            pass_fds=descriptors,
        )
        process.returncode = 0  # Popen must neither wait for it nor warn that it runs
        return process.pid

    def is_supervisor(self, pid: int, home: Home) -> bool:
        """Returns whether the process is the supervisor of ``home``, by its command line.

        A pid that a program wrote, or that was reused, must not be signalled. Without /proc, any
        process but this one is accepted.
        """
        if pid == os.getpid():
            return False
        try:
            with Path(f"/proc/{pid}/cmdline").open("rb") as file:
                arguments = file.read(_MOST_BYTES).rstrip(b"\0")
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return not Path("/proc/self/cmdline").exists()
        # One from the fork server has empty words behind these.
        return arguments.split(b"\0")[-2:] == [b"run", os.fsencode(home.path)]

    def terminate(self, home: Home) -> bool:
        """Sends SIGTERM to the live supervisor of ``home`` alone; returns whether it did.

        If it didn't, the supervisor has ended, or hasn't written its pid yet.
        """
        pid = home.pid()
        if pid is None:
            return False

        def is_right() -> bool:
            return self.is_supervisor(pid, home) and untrusted_files.is_locked(home.lock)

        return _send_sigterm(pid, is_right)


def _open_log(home: Home) -> int:
    """Opens the log; /dev/null if it can't be opened.

    Neither a full disk nor a program's file there may prevent the cleanup.
    """
    try:
        return untrusted_files.append_to(home.log)
    except OSError:  # as said above
        return os.open(os.devnull, os.O_WRONLY)


def _send_sigterm(pid: int, is_right: Callable[[], bool]) -> bool:
    """Sends SIGTERM to the process if ``is_right`` returns true; returns whether it did.

    On Linux, the checked process is surely the one that gets the signal. SIGCONT follows, since a
    stopped supervisor wouldn't handle SIGTERM.
    """
    # Opened before ``is_right`` looks: the signal then goes to the process that was looked at.
    descriptor = _open_process(pid)
    try:
        if not is_right():
            return False
        if sys.platform == "linux" and descriptor is not None:
            signal.pidfd_send_signal(descriptor, signal.SIGTERM)
            signal.pidfd_send_signal(descriptor, signal.SIGCONT)
        else:
            os.kill(pid, signal.SIGTERM)
            os.kill(pid, signal.SIGCONT)
    except (ProcessLookupError, PermissionError):
        return False
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return True


def _open_process(pid: int) -> int | None:
    """Returns a descriptor of the process; None if it is gone, or can't have one."""
    if sys.platform != "linux":
        return None
    else:  # noqa: RET505  mypy reads one branch for each platform
        try:
            return os.pidfd_open(pid)
        except OSError:  # its number has to do
            return None
