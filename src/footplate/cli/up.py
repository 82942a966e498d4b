"""``footplate up``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from footplate.cli.linux_only import require_linux

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.sites import Site


@click.command("up")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    metavar="PORT",
    help="Port to listen on; 0 chooses a free port.  [env: FOOTPLATE_PORT; default: 8470]",
)
@click.option(
    "--data-dir",
    type=click.Path(),
    metavar="DIR",
    help="Directory for all data.  [env: FOOTPLATE_DATA_DIR; default: ~/.local/share/footplate]",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Address to listen on; any other than 127.0.0.1 requires FOOTPLATE_TOKEN.",
)
@click.option(
    "--no-proxy",
    is_flag=True,
    help=(
        "Start no proxy; the proxy connects unchanged programs to the service.  [env: "
        "FOOTPLATE_PROXY_PORT=none]"
    ),
)
@click.option(
    "--detach",
    is_flag=True,
    help="Return when the service answers; the service continues when the terminal closes.",
)
def command(
    port: int | None,
    data_dir: str | None,
    host: str | None,
    *,
    no_proxy: bool,
    detach: bool,
) -> None:
    """Start the service on this machine, in the foreground.

    Ctrl-C stops the service only: its jobs keep running, and the next `footplate up` resumes them
    again. `footplate down` ends them, too.

    With --detach it runs in the background, and its messages go to footplate.log in the data
    directory.

    \b
    Examples:
      footplate up
      footplate up --port 0 --data-dir ./footplate-data
      footplate up --detach
    """
    require_linux("`footplate up`")
    # Imported here: a server takes longer to import than a help text may take.
    from footplate.cli.environment_variables import forget
    from footplate.server import describe_machine, serve
    from footplate.server.machine import describe_open_files
    from footplate.settings import load_settings, strays

    forget(os.environ)
    proxy = "none" if no_proxy else None
    options = {"port": port, "data_dir": data_dir, "host": host, "proxy_port": proxy}
    settings = load_settings(os.environ, options)
    for sentence in strays(os.environ):
        click.secho(f"Warning: {sentence}", err=True, fg="yellow")

    if detach:
        # Imported here: the server itself needs no client.
        from footplate.cli.detached_server import start_detached

        given = {"--port": port, "--data-dir": settings.data_dir, "--host": host}
        words = [f"{name}={value}" for name, value in given.items() if value is not None]
        start_detached(settings, [*words, *(["--no-proxy"] if no_proxy else [])])
        return

    def greet(url: str, site: Site, leader: str | None) -> None:
        lines = [*describe_machine(site, settings), f"  {describe_open_files()}"]
        _greet(url, str(settings.data_dir), leader, lines)

    left = serve(settings, on_ready=greet)
    click.echo("\nThe service has stopped.", err=True)
    if left:
        continuing = "1 job continues" if left == 1 else f"{left} jobs continue"
        click.echo(
            f"{continuing} without the service; the next `footplate up` takes over.", err=True
        )


def _greet(url: str, data_dir: str, leader: str | None, machine: Sequence[str]) -> None:
    click.echo(f"Footplate answers at {url} (data in {data_dir}).")
    if leader is not None:
        click.echo(
            f"The server {leader} leads the service; if that server stops, another server leads."
        )
    for line in machine:
        click.echo(line)
    click.echo(
        "\n"
        f"  {url:<35}  see and submit jobs in a browser\n"
        "  footplate run -- python submit.py    run an unchanged Vertex AI script against it\n"
        '  eval "$(footplate env)"              or lead all programs of a shell to it\n'
        "  footplate status                     show the service and its jobs\n\n"
        "Ctrl-C stops the service, but not its jobs; `footplate down` stops both."
    )
