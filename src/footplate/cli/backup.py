"""``footplate backup``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.option_values import size
from footplate.cli.terminal_text import disarm

if TYPE_CHECKING:
    from footplate.backup import Made
    from footplate.settings import Settings

_MAX_NAMED = 10


@click.command("backup")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--data-dir",
    type=click.Path(),
    metavar="DIR",
    help="Data directory of the service.  [env: FOOTPLATE_DATA_DIR]",
)
@click.option(
    "--keep",
    type=click.IntRange(1),
    metavar="N",
    help="Keep the newest N backups in DIR: remove older ones when the new backup is complete.",
)
@click.option(
    "--check",
    "only_check",
    is_flag=True,
    help="Only check the newest backup in DIR, and make no new backup.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(
    directory: Path, data_dir: str | None, keep: int | None, *, only_check: bool, as_json: bool
) -> None:
    """Back up the service's data directory into a new folder of DIR, also while it runs.

    A backup holds the jobs, their logs, the buckets with what is known of each object, the audit
    log, the keys, the certificate authority, and footplate.toml. It takes space for what has
    changed since the one before. Only its owner can read it; keep it as secret as the service.
    What was written is read again.

    Not in it: environments, which are built again; folders and stores that buckets are bound to;
    and a PostgreSQL database, which `pg_dump` backs up: run it first.

    \b
    Examples:
      footplate backup /backup/footplate
      footplate backup /backup/footplate --keep=14
      footplate backup /backup/footplate --check
      footplate restore /backup/footplate --data-dir ./restored
    """
    # Imported here: a help text has no use for them.
    from footplate.backup import check, find_newest, make_backup, prune
    from footplate.settings import load_settings

    if only_check:
        found = check(find_newest(directory), report)
        _show_check(found.backup, found.files, found.size_bytes, found.damaged, as_json=as_json)
        return
    settings = load_settings(os.environ, {"data_dir": data_dir})
    made = make_backup(settings, directory, report)
    gone = [] if keep is None else prune(directory, keep)
    if as_json:
        document = {**_document(made, settings), "removed": [str(folder) for folder in gone]}
        click.echo(json.dumps(document, indent=2))
        return
    new = f"{size(made.new_bytes)} of them new"
    click.echo(
        f"Backed up {count_files(made.files)}, {size(made.size_bytes)}, {new}: {made.folder}"
    )
    for folder in gone:
        click.echo(f"Removed {folder}.")
    _warn(made, settings)


def _document(made: Made, settings: Settings) -> dict[str, object]:
    return {
        "backup": str(made.folder),
        "files": made.files,
        "sizeBytes": made.size_bytes,
        "newFiles": made.new_files,
        "newBytes": made.new_bytes,
        "skipped": made.skipped,
        "database": settings.database_url is None,
        "boundBuckets": [binding.name for binding in settings.buckets],
    }


def _warn(made: Made, settings: Settings) -> None:
    """Prints a warning about the data that the backup doesn't contain."""
    if settings.database_url is not None:
        report(
            "The jobs are in PostgreSQL, so this backup doesn't contain them: back up the "
            "database with `pg_dump`."
        )
    for binding in settings.buckets:
        report(
            f"Bucket {binding.name} is bound to {binding.target}, so this backup doesn't contain "
            "its objects."
        )
    for path, why in list(made.skipped.items())[:_MAX_NAMED]:
        report(f"Left out {path!r}: {why}.")
    if len(made.skipped) > _MAX_NAMED:
        report(f"Left out {len(made.skipped) - _MAX_NAMED} more.")


def _show_check(
    backup: Path, files: int, size_bytes: int, damaged: tuple[str, ...], *, as_json: bool
) -> None:
    if as_json:
        document = {
            "backup": str(backup),
            "files": files,
            "sizeBytes": size_bytes,
            "damaged": damaged,
        }
        click.echo(json.dumps(document, indent=2))
    else:
        for path in damaged:
            report(f"Damaged: {path!r}")
        whole = (
            f"{len(damaged)} of them damaged" if damaged else "all files match what was backed up"
        )
        click.echo(f"Read {count_files(files)}, {size(size_bytes)}, {whole}: {backup}")
    if damaged:
        sys.exit(1)


def count_files(files: int) -> str:
    return "1 file" if files == 1 else f"{files} files"


def report(text: str) -> None:
    click.echo(disarm(text), err=True)
