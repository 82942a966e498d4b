"""Programs as processes that are forked, not started: they need not import anything.

Tests of what a server or a command does use it, and so do tests of reducers, and tests with gcloud
and with the SDK. Tests of how one starts use ``subprocess`` with
``FOOTPLATE``: what is imported, and when; closed descriptors and Ctrl-C meanwhile; terminals;
other users, interpreters and namespaces.
"""

from __future__ import annotations

import atexit
import inspect
import json
import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from functools import cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, AnyStr

from footplate.testing.service import FOOTPLATE, outside
from tests.support import ROOT, fork_server

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from os import PathLike

    Word = str | PathLike[str]

_CODE = "import sys; from tests.support.fork_server import serve; sys.exit(serve()())"
PROGRAMS = {
    FOOTPLATE: "footplate.cli.main",
    (sys.executable, "-m", "footplate_reduction"): "footplate_reduction.__main__",
    (sys.executable, str(ROOT / "reduction" / "tests" / "worker.py")): "reduction.tests.worker",
}
"""How the commands begin that are forked, and the module whose ``main`` each runs."""
SDK_SCRIPT = ROOT / "tests" / "support" / "sdk_script.py"
"""``PYTHON SDK_SCRIPT FILE`` is ``PYTHON FILE``, with Google's SDK imported before."""
_STOP_S = 10.0
_MAX_BYTES = 64
_ROOM = "-" * 4096
"""On the command line of the server, for the words of what it forks."""
_READ_AT_START = ("PYTHON", "LD_", "LC_", "LANG", "MALLOC_", "OPENSSL_", "COVERAGE_")
"""Beginnings of variables that an interpreter and its libraries read before, or while, they load:
who sets another value gets a new process.
"""
_READ_BY_GCLOUD = ("PYTHONPATH", "LD_", "MALLOC_", "OPENSSL_", "CLOUDSDK_PYTHON")
"""gcloud itself says how it encodes; a fork of it never holds lines back."""
_GCLOUD_ARGS = "-S tests/support/gcloud_fork_server.py"
"""gcloud puts them before its own script, without ``-S`` where it has a Python of its own."""


_SIGNATURE = inspect.signature(subprocess.Popen._execute_child)  # type: ignore[attr-defined]  # not in typeshed
_PLAIN = {
    "executable": None,
    "preexec_fn": None,
    "close_fds": True,
    "pass_fds": (),
    "shell": False,
    "gid": None,
    "gids": None,
    "uid": None,
    "umask": -1,
    "process_group": -1,
}
"""Options that a forked process doesn't know, as they are where nobody has asked for them."""
_PIPES = ("p2cread", "p2cwrite", "c2pread", "c2pwrite", "errread", "errwrite")
_POLL_S = 1.0
"""Another thread may learn of the end meanwhile."""


class ForkedProcess(subprocess.Popen[AnyStr]):
    """``subprocess.Popen``, which forks ``PROGRAMS``, gcloud and ``SDK_SCRIPT``.

    What can't be forked is started: other commands, those with options beyond descriptors, folder,
    environment and session, and those whose variables have to be there when an interpreter starts.
    A process that is forked has a process group of its own, and is no child of this one.
    """

    _server: _ForkServer
    _report: socket.socket | None = None
    _pidfd = -1

    @property
    def forked(self) -> bool:
        return self._report is not None

    def send_signal(self, sig: int) -> None:
        if self._report is None:
            super().send_signal(sig)
        elif self.poll() is None:
            with suppress(ProcessLookupError):  # it has ended since
                signal.pidfd_send_signal(self._pidfd, sig)

    def _execute_child(self, *options: Any) -> None:
        asked = _SIGNATURE.bind(self, *options).arguments
        environment = dict(os.environ if asked["env"] is None else asked["env"])
        cwd = Path(asked["cwd"] or "").absolute()
        start = _find_program(asked["args"])
        server = None if start is None else _fork_server(start)
        if start is None or server is None or not _can_fork(server, asked, environment, cwd):
            super()._execute_child(*options)  # type: ignore[misc]  # not in typeshed
            return
        request: fork_server.Request = {
            "module": PROGRAMS.get(start, ""),
            "words": [os.fspath(word) for word in asked["args"][len(start) :]],
            "cwd": str(cwd),
            "environment": environment,
            "new_session": asked["start_new_session"],
        }
        given = (asked["p2cread"], asked["c2pwrite"], asked["errwrite"])
        standard = [own if number == -1 else number for own, number in enumerate(given)]
        self.pid, self._pidfd, self._report = server.fork(request, standard)
        self._server = server
        self._child_created = True
        self._close_pipe_fds(*(asked[name] for name in _PIPES))  # type: ignore[attr-defined]  # as above

    def _internal_poll(self, **options: Any) -> int | None:
        if self._report is None:
            super()._internal_poll(**options)  # type: ignore[misc]  # as above
        elif self.returncode is None:
            with suppress(subprocess.TimeoutExpired):
                self._wait(0)
        return self.returncode

    def _wait(self, timeout: float | None) -> int:
        if self._report is None:
            super()._wait(timeout)  # type: ignore[misc]  # as above
            return self.returncode
        end = None if timeout is None else time.monotonic() + timeout
        while self.returncode is None:
            left_s = _POLL_S if end is None else max(0, min(_POLL_S, end - time.monotonic()))
            ready = _is_ready(self._report, left_s)
            with self._waitpid_lock:  # type: ignore[attr-defined]  # as above
                if ready and self.returncode is None:
                    self.returncode = int(self._server.read(self._report))
                    self._report.close()
                    os.close(self._pidfd)
            if self.returncode is None and end is not None and time.monotonic() >= end:
                assert timeout is not None
                raise subprocess.TimeoutExpired(self.args, timeout)
        return self.returncode


def run_footplate(
    *words: Word,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    input: str | None = None,  # noqa: A002 - as subprocess.run calls it
    timeout: float | None = None,
    check: bool = False,
) -> subprocess.CompletedProcess[str]:
    """As ``run_forked`` for ``footplate``."""
    command = (*FOOTPLATE, *words)
    return run_forked(command, env=env, cwd=cwd, input=input, timeout=timeout, check=check)


def run_forked(
    command: Sequence[Word],
    *,
    env: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    input: str | None = None,  # noqa: A002 - as above
    timeout: float | None = None,
    check: bool = False,
) -> subprocess.CompletedProcess[str]:
    """As ``subprocess.run`` with ``capture_output`` and ``text``, and no input but ``input``."""
    process = ForkedProcess(
        command,
        env=env,
        cwd=cwd,
        stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    done = finish(process, input, timeout)
    if check:
        done.check_returncode()
    return done


def finish(
    process: ForkedProcess[AnyStr], given: AnyStr | None = None, timeout: float | None = None
) -> subprocess.CompletedProcess[AnyStr]:
    """Wait for its end, or kill it; ``given`` is for its standard input."""
    with process:
        try:
            stdout, stderr = process.communicate(given, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)


def interpreter_variables() -> dict[str, str]:
    """Return the variables of this process without which ``FOOTPLATE`` is not forked."""
    return _select(outside(os.environ), _READ_AT_START)


def _find_program(command: Sequence[Word]) -> tuple[str, ...] | None:
    """Return the words that begin the command, if a fork server has imported what it needs."""
    words = tuple(os.fspath(word) for word in command[:3])
    for start in PROGRAMS:
        if words[: len(start)] == start:
            return start
    if words[1:2] == (str(SDK_SCRIPT),):
        return words[:2]
    return words[:1] if _is_gcloud(words) else None


def _is_gcloud(words: Sequence[str]) -> bool:
    return Path(words[0]).is_absolute() and Path(words[0]).name == "gcloud"


def _can_fork(
    server: _ForkServer, asked: Mapping[str, Any], environment: Mapping[str, str], cwd: Path
) -> bool:
    return (
        all(asked[name] == value for name, value in _PLAIN.items())
        and server.read_at_start == server.select(environment)
        and cwd.is_dir()
    )


def _is_ready(report: socket.socket, timeout_s: float) -> bool:
    poll = select.poll()
    with suppress(ValueError):  # another thread has closed it: there is nothing to wait for
        poll.register(report, select.POLLIN)
    return bool(poll.poll(timeout_s * 1000))


class _ForkServer:
    """``command`` starts it."""

    def __init__(self, command: tuple[str, ...]) -> None:
        is_gcloud = _is_gcloud(command)
        self._names = _READ_BY_GCLOUD if is_gcloud else _READ_AT_START
        environment = outside(os.environ) | {"OPENBLAS_NUM_THREADS": "1"}
        self.read_at_start = self.select(environment)
        if is_gcloud:
            environment |= {"CLOUDSDK_PYTHON_ARGS": _GCLOUD_ARGS, "PYTHONUNBUFFERED": "1"}
        self._lock = Lock()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with this
        self._control, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with far:
            self._process = subprocess.Popen(
                (*command, fork_server.COMMAND, str(far.fileno()), _ROOM),
                cwd=ROOT,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=self._errors,
                pass_fds=(far.fileno(),),
                start_new_session=True,
            )
        atexit.register(self.close)
        self.read(self._control)

    def select(self, environment: Mapping[str, str]) -> dict[str, str]:
        """Return the variables that have to be there when its program starts."""
        return _select(environment, self._names)

    def fork(
        self, request: fork_server.Request, standard: Sequence[int]
    ) -> tuple[int, int, socket.socket]:
        """The number of a new process, its pidfd, and the socket that will say its exit status."""
        report, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with far:
            message = json.dumps(request).encode()
            assert len(message) <= fork_server.MAX_REQUEST_BYTES
            with suppress(BrokenPipeError):  # it shows below
                socket.send_fds(self._control, [message], [*standard, far.fileno()])
        said, descriptors, _, _ = socket.recv_fds(report, _MAX_BYTES, 1, socket.MSG_CMSG_CLOEXEC)
        self._check(said)
        return int(said), descriptors[0], report

    def read(self, channel: socket.socket) -> bytes:
        """Raises RuntimeError where the server has ended."""
        said = channel.recv(_MAX_BYTES)
        self._check(said)
        return said

    def _check(self, said: bytes) -> None:
        if not said:
            self._errors.seek(0)
            raise RuntimeError(f"the fork server has ended: {self._errors.read().decode()}")

    def close(self) -> None:
        """What it has forked goes on."""
        self._control.close()
        self._process.wait(_STOP_S)
        self._errors.close()


def _select(environment: Mapping[str, str], beginnings: tuple[str, ...]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if name.startswith(beginnings)}


_starting = Lock()


def _fork_server(start: tuple[str, ...]) -> _ForkServer:
    """One for all ``PROGRAMS``, or one of another program, from the first time it is needed."""
    with _starting:
        return _start((sys.executable, "-c", _CODE) if start in PROGRAMS else start)


@cache
def _start(command: tuple[str, ...]) -> _ForkServer:
    return _ForkServer(command)
