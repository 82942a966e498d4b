"""``footplate ai-platform locations list``."""

from __future__ import annotations

import click

from footplate.cli.ai_platform.locations.rows import COLUMNS, row
from footplate.cli.session import Session, with_session
from footplate.cli.show import format_option, render_list


@click.command("list")
@format_option("table")
@with_session
def command(session: Session, layout: str) -> None:
    """List the regions, and the accelerators that jobs of AI Platform find there.

    \b
    Examples:
      footplate ai-platform locations list
      footplate ai-platform locations list --format='value(locationId)'
    """
    with session.connect() as service:
        found = service.offers.locations(session.project)
    shown = [row(location) for location in found] if layout == "table" else found
    click.echo(render_list(shown, layout, COLUMNS))
