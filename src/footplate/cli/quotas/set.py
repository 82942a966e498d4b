"""``footplate quotas set``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.output_format import format_option
from footplate.cli.quotas.limit_value import LimitValue
from footplate.cli.quotas.region_option import quota_region_option
from footplate.cli.quotas.rows import show_in_force
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.formats.format_spec import Layout
    from footplate.cli.session import Session


@click.command("set")
@click.argument("limits", nargs=-1, required=True, type=LimitValue(), metavar="RESOURCE=LIMIT...")
@quota_region_option()
@format_option("table")
@with_session
def command(
    session: Session, limits: tuple[tuple[str, int], ...], layout: Layout, region: str
) -> None:
    """Limit what the jobs of a project may hold at once; show what is in force then.

    Limits of other resources stay as they are. Running jobs continue, even over a lower limit;
    jobs that wait may start at once under a higher one. 0 keeps a project from a resource.

    \b
    Examples:
      footplate quotas set NVIDIA_TESLA_T4=4 vcpus=64 --project=ads --region=us-central1
      footplate quotas set nvidia-tesla-k80=0 --project=ads
      footplate quotas set jobs=10 --project='*'
    """
    resources = [resource for resource, _ in limits]
    for resource in resources:
        if resources.count(resource) > 1:
            raise click.UsageError(f"{resource!r} is given twice")
    with session.connect() as service:
        quota = service.quotas.change(session.project, region, dict(limits))
    show_in_force(quota, layout)
