"""``footplate quotas describe``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.defaults import DEFAULT_REGION
from footplate.cli.output_format import format_option
from footplate.cli.quotas.region_option import quota_region_option
from footplate.cli.quotas.rows import show_in_force
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session


@click.command("describe")
@quota_region_option(DEFAULT_REGION)
@format_option("table")
@with_session
def command(session: Session, layout: Layout, region: str) -> None:
    """Show what a project may hold in a region, and what its jobs hold there now.

    Of several limits for a resource the most specific one counts: the project's in the region,
    then the project's in '*', then that of '*' in the region, then that of '*' in '*'.

    \b
    Examples:
      footplate quotas describe --project=ads --region=us-central1
      footplate quotas describe --project='*' --region='*'
      footplate quotas describe --format='value(used.NVIDIA_TESLA_T4)'
    """
    with session.connect() as service:
        quota = service.quotas.get(session.project, region)
    show_in_force(quota, layout)
