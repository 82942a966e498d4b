"""``footplate ai-platform locations``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.group import Entry, Group
from footplate.cli.listing import Listing, list_options, show_list
from footplate.cli.output_format import format_option, render
from footplate.cli.session import with_session
from footplate.wire.json_text import objects

if TYPE_CHECKING:
    from footplate.cli.output_format import Layout, Resource
    from footplate.cli.session import Session

_COLUMNS = {
    "NAME": "locationId",
    "TYPE": "type",
    "AVAILABLE_ACCELERATORS": "availableAccelerators",
}


def _row(location: Resource) -> Resource:
    """Returns a location's row, with its capabilities in columns of their own."""
    capabilities = objects(location.get("capabilities"))
    accelerators = [c.get("availableAccelerators") for c in capabilities]
    return {
        **location,
        "type": ",".join(str(capability.get("type", "")) for capability in capabilities),
        "availableAccelerators": ",".join(
            str(name) for names in accelerators if isinstance(names, list) for name in names
        ),
    }


@click.command("describe")
@click.argument("location", metavar="REGION")
@format_option("yaml")
@with_session
def describe(session: Session, location: str, layout: Layout) -> None:
    """Show a region, and the accelerators that jobs of AI Platform find there.

    `footplate catalogue regions` says which of its zones has what.

    \b
    Examples:
      footplate ai-platform locations describe us-central1
      footplate ai-platform locations describe us-central1 --format=json
    """
    with session.connect() as service:
        found = service.offers.location(session.project, location)
    click.echo(render(_row(found) if layout.takes_rows else found, layout, _COLUMNS))


@click.command("list")
@list_options
@with_session
def list_(session: Session, listing: Listing) -> None:
    """List the regions, and the accelerators that jobs of AI Platform find there.

    \b
    Examples:
      footplate ai-platform locations list
      footplate ai-platform locations list --format='value(locationId)'
    """
    with session.connect() as service:
        found = service.offers.locations(session.project)
    show_list(listing.of(found), listing, _COLUMNS, row=_row)


command = Group(
    "locations",
    (
        Entry("describe", describe, "Show what a region has."),
        Entry("list", list_, "List regions."),
    ),
    help="Show where training jobs run.",
)
