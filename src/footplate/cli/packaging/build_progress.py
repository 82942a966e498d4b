"""Prints the progress of building ``--package-path``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.packaging.trainer_package import build_package

if TYPE_CHECKING:
    from footplate.cli.packaging.archive import Archive


def build_shown(package_path: str) -> Archive:
    """The distribution of the package; what is done, and notes on it, go to stderr.

    Raises:
        InvalidArgument: it isn't a package, or doesn't build.
    """
    folder = Path(package_path).expanduser()
    if folder.is_dir():  # else the refusal says all
        click.secho(f"Packaging {package_path}", err=True, dim=True)
    package = build_package(folder)
    for note in package.notes:
        click.secho(f"Note: {note}", err=True, fg="yellow")
    return package.archive
