"""``footplate ai-platform locations describe``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.ai_platform.locations.rows import COLUMNS, row
from footplate.cli.output_format import format_option, render
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session


@click.command("describe")
@click.argument("location", metavar="REGION")
@format_option("yaml")
@with_session
def command(session: Session, location: str, layout: Layout) -> None:
    """Show a region, and the accelerators that jobs of AI Platform find there.

    `footplate catalogue regions` says which of its zones has what.

    \b
    Examples:
      footplate ai-platform locations describe us-central1
      footplate ai-platform locations describe us-central1 --format=json
    """
    with session.connect() as service:
        found = service.offers.location(session.project, location)
    click.echo(render(row(found) if layout.takes_rows else found, layout, COLUMNS))
