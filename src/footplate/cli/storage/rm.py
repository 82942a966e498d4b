"""``footplate storage rm``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session
from footplate.cli.storage.matching import matching, parse_urls

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("rm")
@click.argument(
    "urls",
    nargs=-1,
    required=True,
    metavar="gs://BUCKET/OBJECT...",
    shell_complete=offered("places"),
)
@click.option(
    "--recursive",
    "-r",
    "-R",
    is_flag=True,
    help="All that is below a folder; of a bucket alone, the bucket as well.",
)
@with_session
def command(session: Session, urls: tuple[str, ...], *, recursive: bool) -> None:
    """Delete objects. Nothing brings them back.

    \b
    Examples:
      footplate storage rm gs://stage/census/old.json
      footplate storage rm --recursive gs://stage/census
      footplate storage rm 'gs://stage/**.tmp'
    """
    uris = parse_urls(urls)
    for uri in uris:
        if not uri.path and not recursive:
            raise click.UsageError(f"{uri} is a bucket; --recursive deletes it, and all in it")
    with session.connect() as service:
        for uri in uris:
            whole = recursive and not uri.path.strip("/")
            found = (
                [*service.storage.objects(uri)]
                if whole
                else matching(service.storage, uri, recursive=recursive)
            )
            for stored in found:
                service.storage.delete(stored.place)
                click.echo(f"Removed {stored.uri}", err=True)
            if whole:
                service.storage.delete_bucket(uri.bucket)
                click.echo(f"Removed gs://{uri.bucket}/", err=True)
