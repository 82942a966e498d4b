"""``footplate storage buckets delete``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("delete")
@click.argument(
    "urls", nargs=-1, required=True, metavar="gs://BUCKET...", shell_complete=offered("places")
)
@with_session
def command(session: Session, urls: tuple[str, ...]) -> None:
    """Delete empty buckets; `footplate storage rm --recursive` deletes what is in them, too.

    \b
    Example:
      footplate storage buckets delete gs://stage
    """
    with session.connect() as service:
        for url in urls:
            bucket = GcsUri.parse(url if "://" in url else f"gs://{url}", "bucket").bucket
            service.storage.delete_bucket(bucket)
            click.echo(f"Removed gs://{bucket}/", err=True)
