"""``ssh`` of both APIs: a terminal in a replica, or one command."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, NoReturn

from footplate.cli.group import Failure
from footplate.cli.keyboard_interrupt import INTERRUPTED
from footplate.cli.shell.terminal import TerminalInput, raw_terminal, terminal_size
from footplate.cli.trials.summary import is_tuning
from footplate.client.shell import RemoteShell
from footplate.domain.errors import FailedPrecondition, ServiceError
from footplate.domain.job_states import State
from footplate.domain.replica_names import choose_replica
from footplate.domain.tuning.trial_programs import said_of_runs
from footplate.wire.shell_v1 import Exit, Opening, Stream
from footplate.wire.shell_v1 import Failure as ShellFailure

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import ParamSpec, TypeVar

    from pydantic import JsonValue

    from footplate.cli.session import Session
    from footplate.client.records import Job
    from footplate.domain.names import JobName

    P = ParamSpec("P")
    R = TypeVar("R")

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
