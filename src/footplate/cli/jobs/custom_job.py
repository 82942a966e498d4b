"""A custom job before it is submitted: made of a config file, options, and local code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import click

from footplate.cli.config_file import as_message
from footplate.cli.jobs.options import put_job_options, put_run_options
from footplate.cli.jobs.worker_pools import check_pools, make_pool
from footplate.cli.packaging.image_build import build_image, read_image_name
from footplate.cli.packaging.local_code import (
    MODULE,
    PACKAGE,
    check_local_code,
    find_local_uses,
    package_local_code,
    read_local_code,
)
from footplate.cli.packaging.staging import check_names, stage, staging_location
from footplate.client.validation import Uploads
from footplate.domain.errors import AlreadyExists, InvalidArgument
from footplate.domain.names import CustomJobName, GcsUri
from footplate.wire.vertex_v1.models import CustomJobSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.cli.packaging.staging import PackageStore
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.wire.json_text import JsonObject

_IMAGE_OPTION = "--worker-pool-spec: output-image-uri"


@dataclass(frozen=True)
class CustomJobDraft:
    """A custom job to submit: ``config``, a CustomJobSpec, under ``options`` and ``pools``."""

    project: str
    region: str
    display_name: str
    config: JsonObject
    options: Mapping[str, object]
    pools: PoolArguments

    def forecast_end(self) -> JsonObject:
        return make_job(self.display_name, self.config, self.options, self.pools.forecast_end())

    def stage(self, storage: PackageStore) -> JsonObject:
        return make_job(self.display_name, self.config, self.options, self.pools.stage(storage))

    def package(self, storage: PackageStore) -> JsonObject:
        return make_job(self.display_name, self.config, self.options, self.pools.package(storage))

    @property
    def collection(self) -> str:
        return CustomJobName(self.project, self.region, "").collection

    def uploads(self) -> Uploads | None:
        return self.pools.uploads()

    def create(self, service: Service, request: JsonObject) -> Job:
        return service.custom_jobs.create(self.project, self.region, request)


def make_job(
    display_name: str,
    config: JsonObject,
    options: Mapping[str, object],
    pools: Sequence[JsonObject] = (),
) -> JsonObject:
    """Returns the job's request. ``config`` is a CustomJobSpec, whose values the given options
    replace.

    Raises:
        InvalidArgument: there is no worker pool, or a pool is invalid.
    """
    spec = as_message(CustomJobSpec, config)
    spec["workerPoolSpecs"] = [*pools] or [*_pools(spec)]
    put_run_options(spec, options)
    _put_program(spec, options)
    job: JsonObject = {"displayName": display_name, "jobSpec": spec}
    put_job_options(job, options)
    return job


def _pools(spec: JsonObject) -> list[JsonObject]:
    """Returns the worker pools; a pool without a list, as in gcloud's example, is one."""
    found = spec.get("workerPoolSpecs")
    if not isinstance(found, list) or not found:
        raise InvalidArgument(
            "workerPoolSpecs: required: in the --config file, or as --worker-pool-spec"
        )
    made: list[JsonObject] = []
    for pool in found:
        if not isinstance(pool, dict | None):
            raise InvalidArgument("workerPoolSpecs: allowed: a list of mappings")
        made.append(dict(pool or {}))
    return made


def _put_program(spec: JsonObject, options: Mapping[str, object]) -> None:
    """Puts --args into every pool that runs something, and --command into every container."""
    pools = spec["workerPoolSpecs"]
    for pool in pools if isinstance(pools, list) else []:
        if not isinstance(pool, dict):
            continue
        for kind, option, field in (
            ("containerSpec", "args", "args"),
            ("pythonPackageSpec", "args", "args"),
            ("containerSpec", "command", "command"),
        ):
            program = pool.get(kind)
            if isinstance(program, dict) and isinstance(value := options.get(option), list):
                pool[kind] = {**program, field: value}


@dataclass(frozen=True)
class PoolArguments:
    """The worker pools of --worker-pool-spec; none if the config file defines them.

    Raises:
        InvalidArgument: a pool is wrong.
        click.UsageError: pools can't be combined with --python-package-uris.
    """

    project: str
    display_name: str
    pools: Sequence[dict[str, str]]
    package_uris: Sequence[str]
    staging_bucket: str | None

    def __post_init__(self) -> None:
        if self.pools:
            check_pools(self.pools)
        if self._local and self.package_uris:
            raise click.UsageError(
                "--python-package-uris can't be combined with local-package-path"
            )

    def stage(self, storage: PackageStore) -> list[JsonObject]:
        """Returns the pools' specs; packages and uploads local code, or builds its image."""
        if self._image is not None:
            code, base = read_local_code(self.pools[0]), self.pools[0]["executor-image-uri"]
            build_image(code, base, self._image, _IMAGE_OPTION, pushes=True)
        return self.package(storage)

    def package(self, storage: PackageStore) -> list[JsonObject]:
        """Returns the same as ``stage``, but builds no image."""
        if not self._local or self._image is not None:
            return self._made(self.package_uris)
        archives = package_local_code(read_local_code(self.pools[0]))
        check_names(archives)
        if self.staging_bucket is None:
            self._make_bucket(storage)
        return self._made(stage(storage, self._location, archives))

    def forecast_end(self) -> list[JsonObject]:
        """Returns the specs as far as they are known before anything is built."""
        if not self._local:
            return self._made(self.package_uris)
        check_local_code(read_local_code(self.pools[0]))
        if self._image is not None:
            read_image_name(self._image, _IMAGE_OPTION)
            click.secho(f"Would build and push {self._image}", err=True, dim=True)
            return self._made(())
        uri = f"{self._location}/{PACKAGE}.tar.gz"
        click.secho(f"Would build and upload {uri}", err=True, dim=True)
        return self._made([uri])

    def uploads(self) -> Uploads | None:
        """Returns the prefix of later uploads, where the server doesn't look for packages."""
        if not self._local or self._image is not None:
            return None
        prefix = GcsUri(self._location.bucket, f"{self._location.path}/")
        uses = find_local_uses(read_local_code(self.pools[0]))
        return Uploads(prefix, makes_bucket=self.staging_bucket is None, uses=uses)

    @property
    def _local(self) -> bool:
        """Returns whether the pools run code of this machine."""
        return bool(self.pools) and "local-package-path" in self.pools[0]

    def _made(self, uris: Sequence[str]) -> list[JsonObject]:
        if not self._local:
            return [make_pool(pool, uris) for pool in self.pools]
        image = self.pools[0]["executor-image-uri"]
        return [make_pool(pool, uris, MODULE, image, self._image) for pool in self.pools]

    @property
    def _image(self) -> str | None:
        """Returns the image to build from the local code; None if a package is built."""
        return self.pools[0].get("output-image-uri") if self._local else None

    @cached_property
    def _location(self) -> GcsUri:
        bucket = self.staging_bucket or self._default_bucket
        return staging_location(self.display_name, bucket, None) or GcsUri(bucket, "")

    @property
    def _default_bucket(self) -> str:
        name = self.project.lower().replace(":", "-").replace(".", "-")
        return f"{name}-footplate-staging"

    def _make_bucket(self, storage: PackageStore) -> None:
        try:
            storage.create_bucket(self.project, self._default_bucket)
        except AlreadyExists:
            return
        text = f"Created gs://{self._default_bucket}/ for packages."
        click.secho(text, err=True, dim=True)
