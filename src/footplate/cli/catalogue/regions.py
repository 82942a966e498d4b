"""``footplate catalogue regions``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.catalogue.catalogue_source import (
    accelerator_name,
    catalogue,
    entries,
    show,
    texts,
)
from footplate.cli.lists.listing import Listing, list_options
from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.session import Session

_COLUMNS = {"NAME": "name", "ZONES": "zones", "ACCELERATORS": "accelerators"}


@click.command("regions")
@click.option(
    "--accelerator",
    "accelerators",
    multiple=True,
    metavar="TYPE",
    shell_complete=offered("accelerators"),
    help="Only regions with a zone that has this; given several times, one zone has them all.",
)
@list_options
@with_session
def command(session: Session, listing: Listing, accelerators: tuple[str, ...]) -> None:
    """List regions, their zones, and the accelerators that these have.

    All accelerators of a job have to be found in one zone. With --accelerator only the zones
    that have them are shown.

    \b
    Examples:
      footplate catalogue regions
      footplate catalogue regions --accelerator=nvidia-tesla-t4 --accelerator=nvidia-tesla-k80
      footplate catalogue regions --format=json
    """
    document = catalogue(session)
    wanted = {accelerator_name(document, name) for name in accelerators}
    found = [region for region in entries(document, "regions") if _zones(region, wanted)]
    show(found, listing, _COLUMNS, lambda region: _row(region, wanted))


def _row(region: Resource, wanted: set[str]) -> Resource:
    return {
        "name": region["name"],
        "zones": ", ".join(_zones(region, wanted)),
        "accelerators": ", ".join(texts(region.get("accelerators"))),
    }


def _zones(region: Resource, wanted: set[str]) -> list[str]:
    """Those that have all that is wanted."""
    zones = region.get("zones")
    found = zones.items() if isinstance(zones, dict) else ()
    return [zone for zone, accelerators in found if wanted <= set(texts(accelerators))]
