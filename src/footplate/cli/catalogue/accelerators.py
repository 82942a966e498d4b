"""``footplate catalogue accelerators``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.catalogue.catalogue_source import catalogue, entries, known_name, show, texts
from footplate.cli.lists.listing import Listing, list_options
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.session import Session
    from footplate.wire.json_text import JsonObject

_COLUMNS = {"NAME": "name", "KIND": "kind", "MEMORY_GB": "memoryGb"}


@click.command("accelerators")
@click.option("--region", metavar="REGION", help="Only those that a zone of this region has.")
@list_options
@with_session
def command(session: Session, listing: Listing, region: str | None) -> None:
    """List accelerators; MEMORY_GB is of one device, REGIONS how many have it.

    \b
    Examples:
      footplate catalogue accelerators
      footplate catalogue accelerators --region=us-central1
    """
    document = catalogue(session)
    found = entries(document, "accelerators")
    if region is None:
        show(found, listing, {**_COLUMNS, "REGIONS": "regions"}, _row)
        return
    zones = _zones(document, region)
    there = [accelerator for accelerator in found if str(accelerator["name"]) in zones]
    columns = {**_COLUMNS, "ZONES": "zones"}
    show(there, listing, columns, lambda a: {**a, "zones": ", ".join(zones[str(a["name"])])})


def _row(accelerator: Resource) -> Resource:
    return {**accelerator, "regions": len(texts(accelerator.get("regions")))}


def _zones(document: JsonObject, region: str) -> dict[str, list[str]]:
    """Those of the region by accelerator."""
    known_name(document, "regions", region)
    found: dict[str, list[str]] = {}
    for one in entries(document, "regions"):
        zones = one.get("zones")
        if one["name"] == region and isinstance(zones, dict):
            for zone, accelerators in zones.items():
                for name in texts(accelerators):
                    found.setdefault(name, []).append(zone)
    return found
