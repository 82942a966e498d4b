"""A custom job before it is submitted: made of a config file, options, and local code."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import click

from footplate.cli.config_file import as_message
from footplate.cli.jobs.options import LOCAL_KEYS, put_job_options, put_run_options
from footplate.cli.option_values import enum_name
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
from footplate.domain.reduction import is_image
from footplate.wire.vertex_v1.models import CustomJobSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.cli.packaging.staging import PackageStore
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.wire.json_text import JsonObject


# ``--worker-pool-spec``: checked as gcloud does, and turned into worker pools of the API.

_SOFTWARE = ("container-image-uri", "executor-image-uri", "python-module", *LOCAL_KEYS)


def check_pools(pools: Sequence[dict[str, str]]) -> None:
    """Raises InvalidArgument if a key of a pool is wrong or missing, and names the key."""
    if not pools[0]:
        raise _wrong("the first pool can't be empty: it has the primary replica")
    for pool in pools:
        if pool:
            _check_machine(pool)
    local = "local-package-path" in pools[0]
    _check_software(pools[0])
    for pool in pools[1:]:
        if local and not is_image(pool.get("container-image-uri", "")):
            _check_same_software(pool, pools[0])
        elif "local-package-path" in pool:
            raise _wrong("only the first pool may have local-package-path")
        if pool and not local:
            _check_software(pool)


def make_pool(
    pool: dict[str, str],
    package_uris: Sequence[str],
    module: str | None = None,
    image: str = "",
    built: str | None = None,
) -> JsonObject:
    """Returns a WorkerPoolSpec; {} for a pool that is left out.

    Local code runs by ``module`` and ``image``, or in an image that was ``built``.
    """
    if not pool:
        return {}
    machine: JsonObject = {"machineType": pool["machine-type"]}
    if "accelerator-type" in pool:
        machine["acceleratorType"] = enum_name(pool["accelerator-type"])
        machine["acceleratorCount"] = _whole(pool, "accelerator-count", 1)
    made: JsonObject = {
        "machineSpec": machine,
        "replicaCount": str(_whole(pool, "replica-count", 1)),
    }
    if disk := _disk(pool):
        made["diskSpec"] = disk
    if "container-image-uri" in pool:
        made["containerSpec"] = {"imageUri": pool["container-image-uri"]}
    elif built is not None:
        made["containerSpec"] = {"imageUri": built}
    else:
        made["pythonPackageSpec"] = {
            "executorImageUri": image or pool["executor-image-uri"],
            "packageUris": list(package_uris),
            "pythonModule": module or pool["python-module"],
        }
    return made


def _disk(pool: dict[str, str]) -> JsonObject:
    disk: JsonObject = {}
    if "boot-disk-type" in pool:
        disk["bootDiskType"] = pool["boot-disk-type"]
    if "boot-disk-size" in pool:
        disk["bootDiskSizeGb"] = _whole(pool, "boot-disk-size", 100)
    return disk


def _check_machine(pool: dict[str, str]) -> None:
    if "machine-type" not in pool:
        raise _wrong("machine-type is missing")
    if "accelerator-count" in pool and "accelerator-type" not in pool:
        raise _wrong("accelerator-count requires accelerator-type")
    for key in ("replica-count", "accelerator-count", "boot-disk-size"):
        _whole(pool, key, 1)


def _check_software(pool: dict[str, str]) -> None:
    if "local-package-path" in pool:
        if "executor-image-uri" not in pool:
            raise _wrong("local-package-path requires executor-image-uri")
        if ("python-module" in pool) == ("script" in pool):
            raise _wrong("local-package-path requires either python-module or script")
        return
    if ("executor-image-uri" in pool) == ("container-image-uri" in pool):
        raise _wrong("give either executor-image-uri or container-image-uri")
    if "container-image-uri" in pool and "python-module" in pool:
        raise _wrong(
            "python-module can't be combined with container-image-uri, because the image "
            "contains the program"
        )
    if "executor-image-uri" in pool and "python-module" not in pool:
        raise _wrong("executor-image-uri requires python-module")
    if unexpected := [key for key in LOCAL_KEYS if key in pool]:
        raise _wrong(f"{', '.join(unexpected)}: allowed only with local-package-path")


def _check_same_software(pool: dict[str, str], first: dict[str, str]) -> None:
    """Checks a pool's software, which may only repeat that of the first pool.

    gcloud takes none of these keys there. Only this service runs a Reduction Server beside a local
    package.
    """
    for key in ("local-package-path", *_SOFTWARE):
        if key in pool and pool[key] != first.get(key):
            known = f"{key}={first[key]}" if key in first else f"no {key}"
            raise _wrong(
                f"{key}={pool[key]} given in another pool, but the first pool has {known}. All "
                "pools, except one with Reduction Server's image, run the first pool's local "
                "package: leave the key out"
            )


def _whole(pool: dict[str, str], key: str, default: int) -> int:
    text = pool.get(key, str(default))
    if not (text.isascii() and text.isdigit()):
        raise _wrong(f"{key}={text!r}; allowed: a whole number")
    return int(text)


def _wrong(message: str) -> InvalidArgument:
    return InvalidArgument(f"--worker-pool-spec: {message}")


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
