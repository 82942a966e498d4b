"""The packages of a command line, and where local ones are put."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.packaging.progress import build_shown
from footplate.cli.packaging.staging import (
    check_names,
    read_package,
    stage,
    staged_uri,
    staging_location,
)
from footplate.cli.packaging.trainer import check_package
from footplate.client.validation import Uploads
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from footplate.cli.packaging.archive import Archive
    from footplate.client.storage import Storage


@dataclass(frozen=True)
class GivenPackages:
    """What the options say of packages, and where local ones are put."""

    job: str
    package_path: str | None
    packages: list[str]
    staging_bucket: str | None
    job_dir: str | None

    def stage(self, storage: Storage) -> list[str]:
        """Build and upload what is local; the URIs of all packages, the built one first."""
        local, location = self._local(), self._location()
        if location is None:
            return self._remote()
        built = [build_shown(self.package_path)] if self.package_path is not None else []
        check_names([*built, *local])
        return [*stage(storage, location, [*built, *local]), *self._remote()]

    def foretell(self) -> list[str]:
        """The URIs that there would be, as far as they are known before anything is built."""
        local, location = self._local(), self._location()
        if location is None:
            return self._remote()
        check_names(local)
        built = []
        if self.package_path is not None:
            name = check_package(Path(self.package_path).expanduser()).name
            built = [f"{location}/{name}.tar.gz"]
        uris = [*built, *(str(staged_uri(location, archive)) for archive in local)]
        click.secho(f"Not built and uploaded now: {', '.join(uris)}", err=True, dim=True)
        return [*uris, *self._remote()]

    def uploads(self) -> Uploads | None:
        """Where the server need not look for packages yet."""
        location = self._location()
        return None if location is None else Uploads(GcsUri(location.bucket, f"{location.path}/"))

    def _remote(self) -> list[str]:
        return [package for package in self.packages if package.startswith("gs://")]

    def _local(self) -> list[Archive]:
        return [read_package(name) for name in self.packages if not name.startswith("gs://")]

    def _location(self) -> GcsUri | None:
        """Where local packages go; None: there are none."""
        if self.package_path is None and len(self._remote()) == len(self.packages):
            return None
        location = staging_location(self.job, self.staging_bucket, self.job_dir)
        if location is None:
            raise click.UsageError(
                "local packages want --staging-bucket or --job-dir, to be uploaded to"
            )
        return location
