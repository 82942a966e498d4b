"""``footplate storage buckets list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.lists.listing import Listing, list_options, show_list
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("list")
@list_options
@with_session
def command(session: Session, listing: Listing) -> None:
    """List the buckets."""
    with session.connect() as service:
        buckets = service.storage.buckets(session.project)
    found = listing.of(bucket.resource for bucket in buckets)
    show_list(found, listing, {"NAME": "name", "PROJECT": "project", "CREATED": "timeCreated"})
