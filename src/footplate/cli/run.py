"""``footplate run``."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.allowed_hosts import allow_host_option
from footplate.cli.env import led_variables
from footplate.cli.option_values import offered
from footplate.cli.session import region_option, with_session

if TYPE_CHECKING:
    from footplate.cli.session import Session

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

    The program takes the place of this one: its exit code and signals are its own.

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
    try:
        _become(words, environment)
    except FileNotFoundError:
        _fail(f"{words[0]}: no such program{_as_script(words)}", NOT_FOUND)
    except OSError as error:
        _fail(f"{words[0]}: {error.strerror}{_as_script(words)}", NOT_EXECUTABLE)


def _become(words: tuple[str, ...], environment: dict[str, str]) -> None:
    if os.name == "posix":
        os.execvpe(words[0], words, environment)  # noqa: S606 - that is what run is for
    # Elsewhere the parent would continue while the program is replaced.
    program = shutil.which(words[0])
    if program is None:
        raise FileNotFoundError(words[0])
    sys.exit(subprocess.run([program, *words[1:]], env=environment, check=False).returncode)


def _as_script(words: tuple[str, ...]) -> str:
    """The way out for who forgot the ``python`` before a script."""
    if not (words[0].endswith(".py") and Path(words[0]).is_file()):
        return ""
    return f"; did you mean: footplate run -- {shlex.join(['python', *words])}"


def _fail(message: str, code: int) -> None:
    click.echo(f"footplate run: {message}", err=True)
    sys.exit(code)
