"""Packages given on the command line, and the staging location of local ones."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.packaging.build import is_project
from footplate.cli.packaging.build_progress import build_shown
from footplate.cli.packaging.module_check import check_module
from footplate.cli.packaging.staging import (
    check_names,
    read_package,
    stage,
    staged_uri,
    staging_location,
)
from footplate.cli.packaging.trainer_package import build_package, check_package
from footplate.client.validation import Uploads
from footplate.domain.names import GcsUri

if TYPE_CHECKING:
    from footplate.cli.ai_platform.jobs.submit.options import PackageOptions
    from footplate.cli.packaging.archive import Archive
    from footplate.cli.packaging.built_packages import PackageStore


@dataclass(frozen=True)
class PackageArguments:
    """What the options say of packages, and where local ones are put."""

    job: str
    asked: PackageOptions
    job_dir: str | None
    module: tuple[str, str] | None = None
    """Where it was given, and what: the module that is to run."""

    def stage(self, storage: PackageStore) -> list[str]:
        """Build and upload what is local; the URIs of all packages, the built one first."""
        local, location = self._local(), self._location()
        if location is None:
            return self._remote()
        package_path = self.asked.package_path
        built = [build_shown(package_path)] if package_path is not None else []
        for archive in built:
            self._check_module(archive)
        check_names([*built, *local])
        return [*stage(storage, location, [*built, *local]), *self._remote()]

    def forecast_end(self) -> list[str]:
        """The URIs that there would be, as far as they are known before anything is built."""
        local, location = self._local(), self._location()
        if location is None:
            return self._remote()
        check_names(local)
        built = []
        if (package_path := self.asked.package_path) is not None:
            folder = check_package(Path(package_path).expanduser())
            if not is_project(folder.parent):  # what is made up is made quickly
                self._check_module(build_package(folder).archive)
            built = [f"{location}/{folder.name}.tar.gz"]
        uris = [*built, *(str(staged_uri(location, archive)) for archive in local)]
        click.secho(f"Not built and uploaded now: {', '.join(uris)}", err=True, dim=True)
        return [*uris, *self._remote()]

    def _check_module(self, built: Archive) -> None:
        """Other packages may have what this one lacks."""
        package_path = self.asked.package_path
        if self.module is not None and package_path is not None and not self.asked.packages:
            parent = Path(package_path).expanduser().resolve().parent
            field, module = self.module
            check_module(module, built, own_build=is_project(parent), field=field)

    def uploads(self) -> Uploads | None:
        """Where the server need not look for packages yet."""
        location = self._location()
        return None if location is None else Uploads(GcsUri(location.bucket, f"{location.path}/"))

    def _remote(self) -> list[str]:
        return [package for package in self.asked.packages if package.startswith("gs://")]

    def _local(self) -> list[Archive]:
        return [read_package(name) for name in self.asked.packages if not name.startswith("gs://")]

    def _location(self) -> GcsUri | None:
        """Where local packages go; None: there are none."""
        asked = self.asked
        if asked.package_path is None and len(self._remote()) == len(asked.packages):
            return None
        location = staging_location(self.job, asked.staging_bucket, self.job_dir)
        if location is None:
            raise click.UsageError(
                "local packages want --staging-bucket or --job-dir, to be uploaded to"
            )
        return location
