"""``footplate run``."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import click

from footplate.cli.allowed_hosts import allow_host_option
from footplate.cli.env import led_variables
from footplate.cli.option_values import offered
from footplate.cli.session import region_option, with_session
from footplate.cli.terminal_text import disarm
from footplate.domain.errors import ServiceError

if TYPE_CHECKING:
    from footplate.cli.session import Session

_ON_POSIX = os.name == "posix"
_TIMEOUT_S = 10.0
NOT_EXECUTABLE = 126
NOT_FOUND = 127
"""What shells end with."""


@click.command(
    "run",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@allow_host_option()
@region_option()
@with_session
@click.argument(
    "words",
    nargs=-1,
    required=True,
    type=click.UNPROCESSED,
    metavar="-- CMD...",
    shell_complete=offered("files"),
)
def command(
    session: Session, /, region: str, allow_hosts: tuple[str, ...], words: tuple[str, ...]
) -> None:
    """Run a program that knows nothing of Footplate against the service.

    The program may be in any language: variables lead it to the service's proxy, which answers for
    Google's hosts and refuses all others but those of --allow-host. Endpoints, transports and
    credentials that it names stay as they are: their hosts are answered here.

    Nothing of it can reach, or bill, the real service: the proxy reaches no other host, the
    program trusts no certificates but the service's, and the credentials in reach open nothing.
    Not covered: programs that drop their environment (env -i, sudo), and clients that ignore both
    proxies and the variables of trust, and bring credentials of their own.

    Exit code and signals are the program's own. If it ends with another exit code than 0, the jobs
    that were created meanwhile and failed are shown: why, their last 40 lines, and where there is
    more.

    \b
    Examples:
      footplate run -- python submit.py
      footplate run -- gcloud ai custom-jobs list --region=us-central1
      footplate run -- pytest tests/
      footplate run --allow-host pypi.org -- ./train.sh
    """
    # Imported here: the help text needs no keys.
    from footplate.cli.environment_variables import launch

    variables = led_variables(session, region, allow_hosts)
    environment = launch(variables, session.target(), os.environ)
    sys.stdout.flush()
    sys.stderr.flush()
    newest = _find_newest(session)
    try:
        code = _run(words, environment)
    except FileNotFoundError:
        _fail(f"{words[0]}: no such program{_as_script(words)}", NOT_FOUND)
    except OSError as error:
        _fail(f"{words[0]}: {error.strerror}{_as_script(words)}", NOT_EXECUTABLE)
    if code > 0 and newest is not None:
        _report(session, newest)
    _end_as(code)


def _find_newest(session: Session) -> str | None:
    """Returns the creation time of the newest job; None if it isn't known."""
    try:
        with session.connect(_TIMEOUT_S) as service:
            return service.newest_job_time()
    except ServiceError:
        return None


def _run(words: tuple[str, ...], environment: dict[str, str]) -> int:
    """Runs the program; returns its exit code, or minus its signal. Raises OSError."""
    if _ON_POSIX:
        # Imported here: what it imports isn't everywhere.
        from footplate.cli.child_program import run_program

        return run_program(words, environment)
    program = shutil.which(words[0])
    if program is None:
        raise FileNotFoundError(words[0])
    return subprocess.run([program, *words[1:]], env=environment, check=False).returncode


def _end_as(code: int) -> NoReturn:
    if code < 0 and _ON_POSIX:
        # Imported here: as above.
        from footplate.cli.child_program import end_by

        end_by(-code)
    sys.exit(code)


def _report(session: Session, newest: str) -> None:
    """Prints the jobs that have failed since ``newest``."""
    try:
        with session.connect(_TIMEOUT_S) as service:
            failed = service.failed_jobs(newest)
    except ServiceError:  # the program has said already what it makes of that
        return
    for job in failed:
        lines = job.describe(session.flags).splitlines()
        text = "\n".join(disarm(line, moving=True) for line in lines)
        click.echo(f"\nfootplate run: {text}", err=True)


def _as_script(words: tuple[str, ...]) -> str:
    """Returns a hint for a user who forgot ``python`` before a script; '' otherwise."""
    if not (words[0].endswith(".py") and Path(words[0]).is_file()):
        return ""
    return f"; did you mean: footplate run -- {shlex.join(['python', *words])}"


def _fail(message: str, code: int) -> None:
    click.echo(f"footplate run: {message}", err=True)
    sys.exit(code)
