"""``footplate status``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.session import Session, with_session
from footplate.cli.show import format_option, render

if TYPE_CHECKING:
    from footplate.wire.json_text import JsonObject


@click.command("status")
@format_option("table")
@with_session
def command(session: Session, layout: str) -> None:
    """Show where the service answers, and how many jobs it has in which state."""
    with session.connect() as service:
        status = service.status()
    if layout != "table":
        document: JsonObject = {
            "version": status.version,
            "url": status.url,
            "pid": status.pid,
            "dataDir": status.data_dir,
            "activeJobs": dict(status.active_jobs),
        }
        click.echo(render(document, layout, {}))
        return
    click.echo(f"Footplate {status.version} answers at {status.url}")
    click.echo(f"  process  {status.pid}")
    click.echo(f"  data     {status.data_dir}")
    counts = [f"{count} {state}" for state, count in status.active_jobs.items() if count]
    click.echo(f"  jobs     {', '.join(counts) or 'none active'}")
