"""``footplate storage ls``."""

from __future__ import annotations

import sys

import click

from footplate.cli.session import Session, with_session
from footplate.cli.table import table
from footplate.cli.terminal import disarm
from footplate.domain.names import GcsUri


@click.command("ls")
@click.argument("place", metavar="gs://BUCKET[/PREFIX]")
@click.option("--long", "-l", "long_form", is_flag=True, help="Sizes and times, too.")
@with_session
def command(session: Session, place: str, *, long_form: bool) -> None:
    """List the objects whose names begin with a prefix.

    \b
    Example:
      footplate storage ls -l gs://stage/census/
    """
    with session.connect() as service:
        objects = list(service.storage.objects(GcsUri.parse(place, "place")))
    if not objects:
        click.echo("Listed 0 items.", err=True)
        return
    text = "\n".join(o.uri for o in objects)
    if long_form:
        rows = [[str(o.size_bytes), o.update_time, o.uri] for o in objects]
        text = table(["SIZE", "UPDATED", "OBJECT"], rows)
    click.echo(disarm(text) if sys.stdout.isatty() else text)
