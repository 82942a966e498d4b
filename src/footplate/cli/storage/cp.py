"""``footplate storage cp``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.parameter_completion import offered
from footplate.cli.progress import Progress
from footplate.cli.session_options import with_session

if TYPE_CHECKING:
    from footplate.cli.session import Session
    from footplate.cli.storage.transfers import Transfer
    from footplate.client.storage import Storage


@click.command("cp")
@click.argument(
    "sources",
    nargs=-1,
    required=True,
    metavar="SOURCE...",
    shell_complete=offered("places_or_files"),
)
@click.argument("target", metavar="DESTINATION", shell_complete=offered("places_or_files"))
@click.option("--recursive", "-r", "-R", is_flag=True, help="Folders, with all that is in them.")
@with_session
def command(session: Session, sources: tuple[str, ...], target: str, *, recursive: bool) -> None:
    """Copy files into a bucket, out of one, or from one to another.

    What is there already is replaced.

    \b
    Examples:
      footplate storage cp data.csv gs://stage/data/
      footplate storage cp --recursive data gs://stage
      footplate storage cp 'gs://stage/census/*.json' .
    """
    # Imported here: help texts need none of it.
    from footplate.cli.storage.transfers import place, plan

    with session.connect() as service:
        places = [place(source) for source in sources]
        transfers = plan(service.storage, places, target, recursive=recursive)
        with Progress("Copying", len(transfers)) as progress:
            for transfer in transfers:
                progress.step(f"Copying {transfer.source} to {transfer.target}")
                _copy(service.storage, transfer)


def _copy(storage: Storage, transfer: Transfer) -> None:
    source, target = transfer.source, transfer.target
    if isinstance(source, Path):
        if isinstance(target, Path):
            raise click.UsageError("neither is in a bucket: cp copies files of one machine")
        storage.upload_file(target, source)
    elif isinstance(target, Path):
        storage.download_file(source, target)
    else:
        storage.copy(source, target)
