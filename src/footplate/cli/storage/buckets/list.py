"""``footplate storage buckets list``."""

from __future__ import annotations

import click

from footplate.cli.session import Session, with_session
from footplate.cli.show import format_option, render_list


@click.command("list")
@format_option("table")
@with_session
def command(session: Session, layout: str) -> None:
    """List the buckets."""
    with session.connect() as service:
        buckets = service.storage.buckets(session.project)
    if buckets:
        columns = {"NAME": "name", "CREATED": "timeCreated"}
        click.echo(render_list((bucket.resource for bucket in buckets), layout, columns))
    else:
        click.echo("Listed 0 items.", err=True)
