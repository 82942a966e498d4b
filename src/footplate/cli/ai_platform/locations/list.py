"""``footplate ai-platform locations list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.ai_platform.locations.rows import COLUMNS, row
from footplate.cli.lists.listing import Listing, list_options, show_list
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("list")
@list_options
@with_session
def command(session: Session, listing: Listing) -> None:
    """List the regions, and the accelerators that jobs of AI Platform find there.

    \b
    Examples:
      footplate ai-platform locations list
      footplate ai-platform locations list --format='value(locationId)'
    """
    with session.connect() as service:
        found = service.offers.locations(session.project)
    show_list(listing.of(found), listing, COLUMNS, row=row)
