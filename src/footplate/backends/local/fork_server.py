"""Client of the fork server, the process that forks supervisors. It may be missing.

It only makes starts faster. It is begun with the first of them, which doesn't wait for it, and
where there is none, or it won't, supervisors are spawned as if there had never been one.
"""

from __future__ import annotations

import logging
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

log = logging.getLogger(__name__)

COMMAND = "fork-server"
READY = b"ready"
"""The same as in ``footplate.replica.fork_server``, which runs in another process."""
ROOM = 1024
"""Spaces behind the command: on the command line there must be room for the path of a HOME."""
TIMEOUT_S = 5.0
"""How long it may take to fork."""
BACKOFF_S = 30.0
"""After one that ended too soon, until another one is begun."""
_MOST_BYTES = 4096

FLAGS = ("-I", "-S")
"""The interpreter's flags for all commands of supervisors."""


class ForkUncertain(OSError):
    """The fork may or may not have succeeded; the supervisor's lock shows it."""


def make_fork_server(python: Path, archive: Path) -> ForkServer | None:
    """Returns a new fork server; None if this system can't identify forked supervisors."""
    return ForkServer(python, archive) if sys.platform == "linux" else None


class ForkServer:
    """The parent of supervisors, which forks them on request. For one thread at a time."""

    def __init__(
        self, python: Path, archive: Path, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        """Creates a fork server that isn't started yet.

        ``archive`` is that of the supervisors, ``python`` the interpreter that runs it.
        """
        self._command = (str(python.absolute()), *FLAGS, str(archive.absolute()))
        self._monotonic = monotonic
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._ready = False
        self._rest_until = 0.0

    def fork(self, home: Path, lock: int, output: int) -> int | None:
        """Forks a supervisor of ``home``, which holds ``lock`` and writes to ``output``; returns
        its pid.

        Returns None if no supervisor was forked, so that the caller must spawn one.

        Raises:
            ForkUncertain: a supervisor may have been forked.
        """
        channel = self._channel or self._begin()
        if channel is None or not self._is_ready(channel):
            return None
        try:
            socket.send_fds(channel, [os.fsencode(home)], [lock, output])
        except OSError:  # another supervisor is started in its place
            self._end("it has ended")
            return None
        answer = self._receive(channel)
        if answer.isdigit():
            return int(answer)
        if answer:
            _say(answer.decode(errors="replace"))
            return None
        # Killed, it can't fork any more: from then on the supervisor's lock tells if it has.
        self._end("it doesn't answer")
        raise ForkUncertain(
            "the fork server doesn't answer; the replica's supervisor may have started"
        )

    def close(self) -> None:
        """Closes the fork server; forked supervisors keep running."""
        if self._channel is not None:
            self._channel.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._channel = self._process = None

    def _begin(self) -> socket.socket | None:
        if self._monotonic() < self._rest_until:
            return None
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            self._process = subprocess.Popen(
                (*self._command, COMMAND, " " * ROOM),
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                start_new_session=True,
            )
        except OSError as error:
            ours.close()
            self._rest(f"the process that forks supervisors can't be started: {error}")
            return None
        finally:
            theirs.close()
        ours.setblocking(False)
        self._channel, self._ready = ours, False
        return ours

    def _is_ready(self, channel: socket.socket) -> bool:
        if self._ready:
            return True
        try:
            said = channel.recv(_MOST_BYTES)
        except BlockingIOError:
            return False
        except OSError:  # the same as its end
            said = b""
        self._ready = said == READY
        if self._ready:
            channel.settimeout(TIMEOUT_S)
        else:
            self._end("the fork server ended before it was ready")
        return self._ready

    def _receive(self, channel: socket.socket) -> bytes:
        """Returns the fork server's next message; b'' if there is none or the server has ended."""
        try:
            return channel.recv(_MOST_BYTES)
        except OSError:  # the same as its end
            return b""

    def _end(self, reason: str) -> None:
        """Ends the fork server, which then can't fork anything any more."""
        self.close()
        self._rest(reason)

    def _rest(self, reason: str) -> None:
        _say(reason)
        self._rest_until = self._monotonic() + BACKOFF_S


def _say(reason: str) -> None:
    log.info("supervisors of replicas start more slowly, each by itself: %s", reason)
