"""``footplate storage buckets create``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.session_options import with_session
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("create")
@click.argument("urls", nargs=-1, required=True, metavar="gs://BUCKET...")
@click.option(
    "--location",
    "-l",
    default="",
    metavar="LOCATION",
    help="Region, dual-region or multi-region (US, EU, ASIA) of the buckets: jobs in other regions "
    "get a warning. Their files are in the data directory in any case.  [default: US]",
)
@with_session
def command(session: Session, urls: tuple[str, ...], location: str) -> None:
    """Create buckets.

    \b
    Example:
      footplate storage buckets create gs://stage
    """
    with session.connect() as service:
        for url in urls:
            bucket = GcsUri.parse(url if "://" in url else f"gs://{url}", "bucket").bucket
            service.storage.create_bucket(session.project, bucket, location)
            click.echo(f"Created gs://{bucket}/", err=True)
