"""``ssh`` of both APIs: a terminal in a replica, or one command."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import threading
import tty
from contextlib import contextmanager, nullcontext, suppress
from typing import TYPE_CHECKING, NoReturn, Protocol

from footplate.cli.group import Failure
from footplate.cli.keyboard_interrupt import INTERRUPTED
from footplate.cli.trials.summary import is_tuning
from footplate.client.shell import RemoteShell
from footplate.domain.errors import FailedPrecondition, ServiceError
from footplate.domain.job_states import State
from footplate.domain.replica_names import choose_replica
from footplate.domain.tuning.trial_programs import said_of_runs
from footplate.wire.shell_v1 import Exit, Opening, Stream
from footplate.wire.shell_v1 import Failure as ShellFailure

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import FrameType
    from typing import ParamSpec, TypeVar

    from pydantic import JsonValue

    from footplate.cli.session import Session
    from footplate.client.records import Job
    from footplate.domain.names import JobName
    from footplate.wire.shell_v1 import Size

    P = ParamSpec("P")
    R = TypeVar("R")


# The terminal of this process: raw mode, and its input for a shell.

DEFAULT_SIZE = (80, 24)
_ENDINGS = (signal.SIGTERM, signal.SIGHUP)
_SIGNALLED = 128


@contextmanager
def raw_terminal(descriptor: int) -> Iterator[None]:
    """Passes each key to the reader, Ctrl-C too; restores the terminal afterwards.

    Restores it even if a signal ends this process.
    """
    before = termios.tcgetattr(descriptor)
    handlers = {number: signal.signal(number, _end) for number in _ENDINGS}
    try:
        tty.setraw(descriptor, termios.TCSADRAIN)  # what was typed already isn't lost
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
        for number, handler in handlers.items():
            signal.signal(number, handler)


def terminal_size(descriptor: int) -> Size:
    """Returns columns and rows; the usual ones if the terminal doesn't tell them."""
    try:
        columns, rows = os.get_terminal_size(descriptor)
    except OSError:  # it is no terminal
        return DEFAULT_SIZE
    return (columns, rows) if columns and rows else DEFAULT_SIZE


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    sys.exit(_SIGNALLED + number)


_AT_ONCE_BYTES = 32768


class Listener(Protocol):
    """A receiver of the terminal's input, such as ``footplate.client.shell.RemoteShell``."""

    def send(self, data: bytes) -> bool: ...

    def resize(self, size: Size) -> None: ...

    def end_input(self) -> None: ...


class TerminalInput:
    """Reads input on a background thread until it or the process ends.

    ``start`` must be called on the main thread. With ``sized`` it also reports changes of the
    terminal's size.
    """

    def __init__(self, listener: Listener, descriptor: int, *, sized: bool) -> None:
        self._listener = listener
        self._descriptor = descriptor
        self._changed, self._change = os.pipe()
        os.set_blocking(self._change, False)
        if sized:
            signal.signal(signal.SIGWINCH, self._note)

    def start(self) -> None:
        threading.Thread(target=self._read, name="keyboard", daemon=True).start()

    def _note(self, *_: object) -> None:
        with suppress(BlockingIOError):  # then it is noted already
            os.write(self._change, b"!")

    def _read(self) -> None:
        poller = select.poll()
        for descriptor in (self._descriptor, self._changed):
            poller.register(descriptor, select.POLLIN)
        going = True
        while going:
            for descriptor, _ in poller.poll():
                if descriptor == self._changed:
                    os.read(self._changed, 4096)
                    self._listener.resize(terminal_size(self._descriptor))
                else:
                    going = self._pass_on()

    def _pass_on(self) -> bool:
        try:
            data = os.read(self._descriptor, _AT_ONCE_BYTES)
        except OSError:  # a terminal that is gone
            data = b""
        if data:
            return self._listener.send(data)
        self._listener.end_input()
        return False


FAILED = 255
"""As ssh's own: a shell's codes end below it."""
_STDIN, _STDOUT, _STDERR = 0, 1, 2
_SAME_SHELL = 'exec "$0"'
"""As a command: a shell that reads its commands from its input."""


class NoShell(Failure):
    exit_code = FAILED


def ssh(session: Session, name: JobName, replica: str, command: str | None) -> NoReturn:
    """Runs a shell; exits as the shell did, or with 255 if it failed or was cut off."""
    try:
        code = _run(session, name, replica, command)
    except ServiceError as error:
        raise NoShell(error.message) from error
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BrokenPipeError:  # the reader of our output is gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), _STDOUT)
        code = FAILED
    sys.exit(code)


def _run(session: Session, name: JobName, replica: str, command: str | None) -> int:
    with session.connect() as service:
        uri = find_uri(service.job(name), replica)
    interactive = command is None and os.isatty(_STDIN)
    if command is None and not interactive:
        command = _SAME_SHELL
    term = os.environ.get("TERM") or "xterm"
    opening = (
        Opening(terminal_size(_STDIN), term, command) if interactive else Opening(command=command)
    )
    shell = RemoteShell(uri, opening, session.target().token)
    try:
        with raw_terminal(_STDIN) if interactive else nullcontext():
            TerminalInput(shell, _STDIN, sized=interactive).start()
            return _follow(shell)
    finally:
        shell.close()


def find_uri(job: Job, replica: str) -> str:
    """Returns the address of a shell in the replica.

    Raises:
        FailedPrecondition: the job has no shell (now); the message says why.
        NotFound: the job has no such replica.
    """
    uris = _uris(job.resource)
    if uris:
        return uris[choose_replica(replica, tuple(uris))]
    if not _wants_access(job.resource):
        raise FailedPrecondition(
            f"job {job.name.job_id} allows no shells, because it doesn't set enableWebAccess. "
            "Submit the job with --enable-web-access, enable_web_access=True of the SDK, or "
            "enableWebAccess: true in the jobSpec or trainingInput"
        )
    if is_tuning(job.resource):
        raise FailedPrecondition(said_of_runs(job.name))
    when = "a shell needs a RUNNING job"
    if job.state is State.RUNNING:
        when = "no program of the job runs now"
    raise FailedPrecondition(f"job {job.name.job_id} is {job.state.value}; {when}")


def _follow(shell: RemoteShell) -> int:
    """Prints the shell's output until it ends; returns its exit code. Raises ServiceError if it was
    cut off.
    """
    target = _STDOUT
    for message in shell:
        match message:
            case bytes():
                _write(target, message)
            case Stream(name):
                target = _STDERR if name == "stderr" else _STDOUT
            case Exit(code):
                return code
            case ShellFailure(reason):
                raise FailedPrecondition(reason)
    raise FailedPrecondition("the server closed the shell without an exit status")


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _uris(resource: Mapping[str, JsonValue]) -> dict[str, str]:
    """Returns the shells' URIs in the service's order, the primary replica's first."""
    output = resource.get("trainingOutput")
    holder = output if isinstance(output, dict) else resource
    uris = holder.get("webAccessUris")
    return {name: str(uri) for name, uri in uris.items()} if isinstance(uris, dict) else {}


def _wants_access(resource: Mapping[str, JsonValue]) -> bool:
    specs = (resource.get("jobSpec"), resource.get("trainingInput"))
    return any(isinstance(spec, dict) and spec.get("enableWebAccess") is True for spec in specs)
