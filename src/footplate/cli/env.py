"""``footplate env``."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

import click

from footplate.cli.allowed_hosts import allow_host_option
from footplate.cli.group import Failure
from footplate.cli.session import region_option, with_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.cli.session import Session


_NO_PROXY = (
    "this server has no proxy: restart the server without --no-proxy and without proxy_port = none"
)
_TIMEOUT_S = 10.0


def _fish(value: str) -> str:
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _powershell(value: str) -> str:
    return "'" + value.replace("'", "''") + "'"


_SET: dict[str, Callable[[str, str], str]] = {
    "sh": lambda name, value: f"export {name}={shlex.quote(value)}",
    "fish": lambda name, value: f"set -gx {name} {_fish(value)};",
    "powershell": lambda name, value: f"$Env:{name} = {_powershell(value)}",
}
_UNSET: dict[str, Callable[[str], str]] = {
    "sh": lambda name: f"unset {name}",
    "fish": lambda name: f"set -e {name};",
    "powershell": lambda name: f"Remove-Item Env:{name} -ErrorAction SilentlyContinue",
}
_EVAL = {
    "sh": 'eval "$(footplate env)"',
    "fish": "footplate env --shell fish | source",
    "powershell": "footplate env --shell powershell | Out-String | Invoke-Expression",
}


@click.command("env")
@click.option(
    "--shell",
    type=click.Choice(list(_SET)),
    default="sh",
    show_default=True,
    help="The shell that reads the lines; sh also stands for bash and zsh.",
)
@click.option("--unset", is_flag=True, help="Print lines that remove the variables again.")
@allow_host_option()
@region_option()
@with_session
def command(
    session: Session,
    /,
    region: str,
    shell: str,
    allow_hosts: tuple[str, ...],
    *,
    unset: bool,
) -> None:
    """Print shell lines that lead Google's clients, in any language, to the service.

    \b
    sh, bash, zsh:  eval "$(footplate env)"
    fish:           footplate env --shell fish | source
    PowerShell:     footplate env --shell powershell | Out-String | Invoke-Expression

    gcloud, gsutil, curl, and programs in Python, Node, Java, Go then use the service's proxy, which
    answers for Google's hosts and refuses all others but those of --allow-host. The lines take real
    credentials out of the shell; a made-up service account, which opens nothing, takes their place.
    """
    # Imported here: the help text needs no keys.
    from footplate.cli.environment_variables import SECRETS, take_away

    if unset:
        left = take_away(os.environ)
        lines = [_SET[shell](name, rest) if rest else _UNSET[shell](name) for name, rest in left]
        click.echo("\n".join(lines))
        return
    variables = led_variables(session, region, allow_hosts)
    forgotten = [_UNSET[shell](name) for name in SECRETS if name in os.environ]
    lines = [_SET[shell](name, value) for name, value in sorted(variables.items())]
    click.echo("\n".join([*forgotten, *lines, f"# Use it so: {_EVAL[shell]}"]))


def led_variables(session: Session, region: str, allowed: tuple[str, ...]) -> dict[str, str]:
    """Returns the variables that lead programs to the server.

    Raises Failure if the server has no proxy, and ServiceError if it doesn't answer.
    """
    # Imported here: as above.
    from footplate.cli.environment_variables import (
        answers,
        find_proxy,
        make_variables,
        write_files,
    )

    with session.connect(_TIMEOUT_S) as service:
        proxy = find_proxy(service)
    if proxy is None:
        raise Failure(_NO_PROXY)
    if not answers(proxy):
        raise Failure(
            f"the server's proxy doesn't answer at {proxy.host}:{proxy.port}: open this port, or "
            f"forward the port with ssh -L {proxy.port}:127.0.0.1:{proxy.port} HOST"
        )
    target, project = session.target(), session.project
    files = write_files(target, project, proxy, allowed, os.environ)
    return make_variables(target, project, region, proxy, files, allowed, os.environ)
