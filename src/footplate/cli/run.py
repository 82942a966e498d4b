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

from footplate.cli.allowed_hosts import NO_PROXY, allow_host_option
from footplate.cli.group import Failure
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

    Where the server has its proxy (`footplate up --proxy`), the program may be in any language:
    variables lead it to the proxy, which answers for Google's hosts and refuses all others but
    those of --allow-host.

    Elsewhere Python programs (3.8 or later) need no change: google-cloud-aiplatform,
    google-api-python-client and google-cloud-storage speak with the service, also where the
    script names real endpoints or credentials. gcloud and programs in other languages are led
    by variables, as with `footplate env`.

    Nothing of it can reach, or bill, the real service: Google's hosts are refused, and the only
    credentials in reach open nothing. Not covered: programs that drop their environment
    (env -i, sudo), or that ignore it (proxies: aiohttp) and bring credentials of their own.

    The program takes the place of this one: its exit code and signals are its own.

    \b
    Examples:
      footplate run -- python submit.py
      footplate run -- gcloud ai custom-jobs list --region=us-central1
      footplate run -- pytest tests/
      footplate run --allow-host pypi.org -- ./train.sh
    """
    environment = _make_environment(session, region, allow_hosts, words)
    sys.stdout.flush()
    sys.stderr.flush()
    try:
        _become(words, environment)
    except FileNotFoundError:
        _fail(f"{words[0]}: no such program{_as_script(words)}", NOT_FOUND)
    except OSError as error:
        _fail(f"{words[0]}: {error.strerror}{_as_script(words)}", NOT_EXECUTABLE)


def _make_environment(
    session: Session, region: str, allowed: tuple[str, ...], words: tuple[str, ...]
) -> dict[str, str]:
    # Imported here: the help text needs no keys.
    from footplate.cli.environment_variables import find_grpc, launch_variables, stand_in
    from footplate.cli.proxy_variables import find_proxy, launch_by_proxy, proxy_variables

    target, project = session.target(), session.project
    with session.connect() as service:
        health = service.health()
        proxy = find_proxy(service, health)
        if proxy is None:
            if allowed:
                raise Failure(f"--allow-host {allowed[0]}: {NO_PROXY}")
            _check_python(words)
            grpc = find_grpc(service, health, os.environ)
            account = stand_in(target.url, project, os.environ)
            return launch_variables(target, project, region, account, grpc, os.environ)
    variables = proxy_variables(target, project, region, proxy, allowed, os.environ)
    return launch_by_proxy(variables, target, os.environ)


def _become(words: tuple[str, ...], environment: dict[str, str]) -> None:
    if os.name == "posix":
        os.execvpe(words[0], words, environment)  # noqa: S606 - that is what run is for
    # Elsewhere the parent would continue while the program is replaced.
    program = shutil.which(words[0])
    if program is None:
        raise FileNotFoundError(words[0])
    sys.exit(subprocess.run([program, *words[1:]], env=environment, check=False).returncode)


def _check_python(words: tuple[str, ...]) -> None:
    """Refuse a Python that is told to leave PYTHONPATH or sitecustomize alone."""
    if not Path(words[0]).name.startswith("python"):
        return
    for word in words[1:]:
        if not word.startswith("-") or word in {"-c", "-m", "-"}:
            return
        if not word.startswith("--") and (given := set(word[1:]) & set("IES")):
            raise Failure(
                f"{words[0]} {word}: with -{min(given)} Python would run without the guards "
                "that keep it from the real service; leave that option out"
            )


def _as_script(words: tuple[str, ...]) -> str:
    """The way out for who forgot the ``python`` before a script."""
    if not (words[0].endswith(".py") and Path(words[0]).is_file()):
        return ""
    return f"; did you mean: footplate run -- {shlex.join(['python', *words])}"


def _fail(message: str, code: int) -> None:
    click.echo(f"footplate run: {message}", err=True)
    sys.exit(code)
