"""``footplate catalogue scale-tiers``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.catalogue.catalogue_source import catalogue, entries, show
from footplate.cli.lists.listing import Listing, list_options
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.session import Session

_COLUMNS = {
    "NAME": "name",
    "MASTER": "master",
    "WORKERS": "worker",
    "PARAMETER_SERVERS": "parameterServer",
}


@click.command("scale-tiers")
@list_options
@with_session
def command(session: Session, listing: Listing) -> None:
    """List the scale tiers of ml v1 and the clusters that they stand for.

    CUSTOM isn't one of them: there the job names its machines.

    \b
    Example:
      footplate catalogue scale-tiers
    """
    show(entries(catalogue(session), "scaleTiers"), listing, _COLUMNS, _row)


def _row(tier: Resource) -> Resource:
    return {
        "name": tier["name"],
        **{role: _machines(tier.get(role)) for role in ("master", "worker", "parameterServer")},
    }


def _machines(machine: object) -> str:
    """``4 x n1-highcpu-8``, ``n1-standard-8 + 1 NVIDIA_TESLA_K80``."""
    if not isinstance(machine, dict):
        return ""
    text = str(machine["machineType"])
    if "acceleratorType" in machine:
        text += f" + {machine['acceleratorCount']} {machine['acceleratorType']}"
    return f"{machine['count']} x {text}" if "count" in machine else text
