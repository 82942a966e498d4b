"""``footplate env``."""

from __future__ import annotations

import os
import shlex
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from footplate.cli.session import region_option, with_session
from footplate.domain.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.cli.environment_variables import GrpcTarget
    from footplate.cli.session import Session


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
    help="sh stands for bash and zsh, too.",
)
@click.option("--unset", is_flag=True, help="Print lines that take the variables away again.")
@region_option()
@with_session
def command(session: Session, /, region: str, shell: str, *, unset: bool) -> None:
    """Print shell lines that point gcloud and Google's storage clients at the service.

    \b
    sh, bash, zsh:  eval "$(footplate env)"
    fish:           footplate env --shell fish | source
    PowerShell:     footplate env --shell powershell | Out-String | Invoke-Expression

    Google's training SDK has no variable for where it goes: run scripts that use it with
    `footplate run`. Under these variables it finds a made-up service account instead of your
    own, so that a forgotten one fails instead of costing money.
    """
    # Imported here: the help text needs no keys.
    from footplate.cli.environment_variables import (
        LOOPBACK,
        ROOTS,
        google_variables,
        has_proxy,
        no_proxy,
        stand_in,
    )

    target = session.target()
    account = stand_in(target.url, session.project, os.environ)
    variables = google_variables(target, session.project, region, account, _find_grpc(session))
    if unset:
        click.echo("\n".join(_UNSET[shell](name) for name in sorted({*variables, ROOTS})))
        return
    if has_proxy(os.environ):
        variables |= no_proxy(os.environ, LOOPBACK)
    lines = [_SET[shell](name, value) for name, value in sorted(variables.items())]
    click.echo("\n".join([*lines, f"# Use it so: {_EVAL[shell]}"]))


def _find_grpc(session: Session) -> GrpcTarget | None:
    """None as well where no server answers: what else is printed is true all the same."""
    # Imported here: as above.
    from footplate.cli.environment_variables import find_grpc

    with suppress(ServiceError), session.connect(_TIMEOUT_S) as service:
        return find_grpc(service, os.environ)
    return None
