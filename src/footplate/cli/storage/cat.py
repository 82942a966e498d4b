"""``footplate storage cat``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from footplate.cli.parameter_completion import offered
from footplate.cli.session_options import with_session
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from footplate.cli.session import Session


@click.command("cat")
@click.argument(
    "urls",
    nargs=-1,
    required=True,
    metavar="gs://BUCKET/OBJECT...",
    shell_complete=offered("places"),
)
@with_session
def command(session: Session, urls: tuple[str, ...]) -> None:
    """Print objects, as they are.

    \b
    Example:
      footplate storage cat gs://stage/census/metrics.json
    """
    out = sys.stdout.buffer
    with session.connect() as service:
        for url in urls:
            for chunk in service.storage.download(GcsUri.parse(url, "url")):
                out.write(chunk)
    out.flush()
