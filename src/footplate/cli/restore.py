"""``footplate restore``."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import click

from footplate.cli.backup import count_files, report
from footplate.cli.option_values import size


@click.command("restore")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
@click.option(
    "--data-dir",
    type=click.Path(),
    metavar="DIR",
    help="Data directory to create; an existing one must be empty.  [env: FOOTPLATE_DATA_DIR]",
)
@click.option("--skip-damaged", is_flag=True, help="Leave out files that the disk has damaged.")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def command(directory: Path, data_dir: str | None, *, skip_damaged: bool, as_json: bool) -> None:
    """Make a data directory of a backup.

    DIR is a folder in which `footplate backup` has made backups, of which the newest is taken, or
    one of these. Every file is compared with what was backed up. As root each file gets its owner
    back. The data directory must be empty, or not be there; `footplate up` then starts on it.

    A job that ran when the backup was made starts again. A PostgreSQL database is restored by
    `pg_restore` before the service starts.

    \b
    Examples:
      footplate restore /backup/footplate
      footplate restore /backup/footplate/2026-11-28T101500Z --data-dir ./restored
    """
    # Imported here: a help text has no use for them.
    from footplate.backup import find_newest, restore
    from footplate.settings import load_settings

    backup = find_newest(directory)
    root = load_settings(os.environ, {"data_dir": data_dir}).data_dir
    restored = restore(backup, root, report, skip_damaged=skip_damaged)
    if as_json:
        document = {
            "backup": str(restored.backup),
            "dataDir": str(root),
            "files": restored.files,
            "sizeBytes": restored.size_bytes,
            "damaged": restored.damaged,
        }
        click.echo(json.dumps(document, indent=2))
    else:
        for path in restored.damaged:
            report(f"Left out the file {path!r}, which is damaged.")
        files = count_files(restored.files)
        click.echo(f"Restored {files}, {size(restored.size_bytes)}, of {backup} to {root}.")
    if restored.damaged:
        sys.exit(1)
