"""``footplate quotas unset``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.output_format import format_option
from footplate.cli.quotas.region_option import quota_region_option
from footplate.cli.quotas.rows import show_in_force
from footplate.cli.session_options import with_session
from footplate.domain.quotas.rules import fold

if TYPE_CHECKING:
    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session
    from footplate.client.quotas import Quota


@click.command("unset")
@click.argument("resources", nargs=-1, metavar="[RESOURCE...]")
@click.option("--all", "everything", is_flag=True, help="All that was set there.")
@quota_region_option()
@format_option("table")
@with_session
def command(
    session: Session, resources: tuple[str, ...], layout: Layout, region: str, *, everything: bool
) -> None:
    """Take back limits that were set; show what is in force then.

    A limit of footplate.toml, or one set for '*', counts again where it was overridden.

    \b
    Examples:
      footplate quotas unset vcpus --project=ads --region=us-central1
      footplate quotas unset --all --project=ads
    """
    if everything == bool(resources):
        raise click.UsageError("name the resources, or say --all")
    with session.connect() as service:
        if everything:
            quota = service.quotas.remove(session.project, region)
        else:
            quota = service.quotas.change(session.project, region, dict.fromkeys(resources))
    show_in_force(quota, layout)
    _tell_what_stays(quota, {fold(resource) for resource in resources})


def _tell_what_stays(quota: Quota, asked: set[str]) -> None:
    """Print which limits remain and why; ``asked`` empty: all."""
    here = (quota.project, quota.region, "SETTINGS")
    stay = [r.name for r in quota.resources if (r.project, r.region, r.source) == here]
    names = [name for name in stay if not asked or fold(name) in asked]
    if names:
        told = f"{', '.join(names)} stays limited by [[quotas]] of footplate.toml; change it there."
        click.echo(told, err=True)
