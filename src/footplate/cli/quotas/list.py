"""``footplate quotas list``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from footplate.cli.lists.listing import Listing, list_options, show_list
from footplate.cli.quotas.rows import LIST, row
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.formats.field_paths import Resource
    from footplate.cli.session import Session


@click.command("list")
@click.option("--region", metavar="REGION", help="Only limits that are set for this region.")
@list_options
@with_session
def command(session: Session, listing: Listing, region: str | None) -> None:
    """List the limits that are set, of all projects; --project shows one.

    SOURCE says where a limit is from: SETTINGS are [[quotas]] tables of footplate.toml, STORED
    was set with `footplate quotas set`. USED is what is held now; with '*' it is blank, since
    each project, or region, counts by itself: see `footplate quotas describe`.

    \b
    Examples:
      footplate quotas list
      footplate quotas list --project=ads --format=json
    """
    chosen = click.get_current_context().get_parameter_source("project")
    project = session.project if chosen is ParameterSource.COMMANDLINE else None
    rows = [row for row in _rows(session) if _is(row, project, region)]
    found = listing.of(rows)
    show_list(found, listing, LIST)
    if not rows:
        click.echo("  set one: footplate quotas set vcpus=64 --project=PROJECT", err=True)


def _rows(session: Session) -> list[Resource]:
    """Each limit once: at the quota that sets it, not where it is in force as well."""
    with session.connect() as service:
        quotas = service.quotas.list()
    return [
        row(resource)
        for quota in quotas
        for resource in quota.resources
        if (resource.project, resource.region) == (quota.project, quota.region)
    ]


def _is(row: Resource, project: str | None, region: str | None) -> bool:
    return project in (None, row["project"]) and region in (None, row["region"])
