"""A training job before it is submitted: made of a config file, options, and packages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import click

from footplate.cli.defaults import DEFAULT_REGION
from footplate.cli.jobs.options import copy_object, put_learn_from
from footplate.cli.option_values import enum_name
from footplate.cli.packaging.source_uses import find_uses
from footplate.cli.packaging.staging import (
    check_names,
    read_package,
    stage,
    staged_uri,
    staging_location,
)
from footplate.cli.packaging.trainer_package import (
    build_package,
    build_shown,
    check_module,
    check_package,
    is_project,
)
from footplate.client.validation import Uploads
from footplate.domain.errors import InvalidArgument
from footplate.domain.names import GcsUri, TrainingJobName

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

    from footplate.cli.jobs.training_options import PackageOptions
    from footplate.cli.packaging.archive import Archive
    from footplate.cli.packaging.staging import PackageStore
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.domain.preview.source_patterns import Use
    from footplate.wire.json_text import JsonObject

FIELDS: dict[str, tuple[str, ...]] = {
    "module_name": ("pythonModule",),
    "job_dir": ("jobDir",),
    "runtime_version": ("runtimeVersion",),
    "python_version": ("pythonVersion",),
    "service_account": ("serviceAccount",),
    "network": ("network",),
    "kms_key_name": ("encryptionConfig", "kmsKeyName"),
    "use_chief_in_tf_config": ("useChiefInTfConfig",),
    "tpu_tf_version": ("workerConfig", "tpuTfVersion"),
    "master_machine_type": ("masterType",),
    "master_image_uri": ("masterConfig", "imageUri"),
    "worker_machine_type": ("workerType",),
    "worker_image_uri": ("workerConfig", "imageUri"),
    "parameter_server_machine_type": ("parameterServerType",),
    "parameter_server_image_uri": ("parameterServerConfig", "imageUri"),
}
"""Options that go into trainingInput as they are."""

_ACCELERATORS = {
    "master_accelerator": "masterConfig",
    "worker_accelerator": "workerConfig",
    "parameter_server_accelerator": "parameterServerConfig",
}
_ROLES = ("master", "worker", "parameterServer", "evaluator")
_CONFIGS = tuple(f"{role}Config" for role in _ROLES)
_OF_CUSTOM_TIER = (*(f"{role}Type" for role in _ROLES), *(f"{role}Count" for role in _ROLES[1:]))
_COUNTS = {"worker_count": "workerCount", "parameter_server_count": "parameterServerCount"}


@dataclass(frozen=True)
class TrainingJobDraft:
    """A training job to submit. ``config`` is a Job of the API; ``options`` override it.

    ``user_args`` are the program's arguments; None for those of ``config``.
    """

    project: str
    job_id: str
    config: JsonObject
    options: Mapping[str, object]
    packages: PackageOptions
    user_args: Sequence[str] | None

    def forecast_end(self) -> JsonObject:
        return self._request(self._given.forecast_end())

    def stage(self, storage: PackageStore) -> JsonObject:
        return self._request(self._given.stage(storage))

    def package(self, storage: PackageStore) -> JsonObject:
        return self.stage(storage)

    @property
    def collection(self) -> str:
        return TrainingJobName(self.project, "").collection

    def uploads(self) -> Uploads | None:
        return self._given.uploads()

    def create(self, service: Service, request: JsonObject) -> Job:
        return service.training_jobs.create(self.project, request)

    @cached_property
    def _given(self) -> PackageArguments:
        job_dir = self.options.get("job_dir")
        return PackageArguments(
            self.job_id,
            self.packages,
            str(job_dir) if job_dir else None,
            find_module(self.config, self.options),
        )

    def _request(self, uris: Sequence[str]) -> JsonObject:
        return make_job(
            self.job_id, self.config, self.options, package_uris=uris, user_args=self.user_args
        )


def find_module(config: JsonObject, options: Mapping[str, object]) -> tuple[str, str] | None:
    """Returns the option or field with the module to run, and its value; None without one."""
    if given := options.get("module_name"):
        return "--module-name", str(given)
    training_input = config.get("trainingInput")
    found = training_input.get("pythonModule") if isinstance(training_input, dict) else None
    return ("trainingInput.pythonModule", found) if isinstance(found, str) else None


def make_job(
    job_id: str,
    config: JsonObject,
    options: Mapping[str, object],
    *,
    package_uris: Sequence[str] = (),
    user_args: Sequence[str] | None = None,
) -> JsonObject:
    """Returns the job of the config file, in which the given options (not None) replace values.

    The option ``default_region`` applies only if neither ``region`` nor the file names a region.

    Raises:
        InvalidArgument: the file has another value where the job has an object.
    """
    job: JsonObject = dict(config)
    job["jobId"] = job_id
    if isinstance(labels := options.get("labels"), dict):
        job["labels"] = dict(labels)
    put_learn_from(job, options.get("learn_from"))
    given = copy_object(job, "trainingInput")
    _drop_machines(given, options)
    _put_fields(given, options)
    _put_machines(given, options)
    if package_uris:
        given["packageUris"] = list(package_uris)
    if user_args is not None:
        given["args"] = list(user_args)
    default = options.get("default_region") or DEFAULT_REGION
    given["region"] = str(options.get("region") or given.get("region") or default)
    return job


def _put_fields(given: JsonObject, options: Mapping[str, object]) -> None:
    for name, path in FIELDS.items():
        if (value := options.get(name)) is not None:
            _put(given, path, value if isinstance(value, bool) else str(value))
    if options.get("enable_web_access"):
        given["enableWebAccess"] = True


def _drop_machines(given: JsonObject, options: Mapping[str, object]) -> None:
    """Removes the file's machines if an option names another tier than CUSTOM.

    They belong to the file's tier, which the option overrides, and the API would refuse them beside
    another tier.
    """
    tier = options.get("scale_tier")
    if tier in (None, "custom"):
        return
    dropped = [name for name in _OF_CUSTOM_TIER if given.pop(name, None) is not None]
    for name in _CONFIGS:
        config = given.get(name)
        if isinstance(config, dict) and "acceleratorConfig" in config:
            given[name] = {key: config[key] for key in config if key != "acceleratorConfig"}
            dropped.append(f"{name}.acceleratorConfig")
    if dropped:
        note = (
            f"Note: because of --scale-tier={tier}, the job leaves out the --config "
            f"file's {', '.join(dropped)}."
        )
        click.secho(note, err=True, fg="yellow")


def _put_machines(given: JsonObject, options: Mapping[str, object]) -> None:
    if (tier := options.get("scale_tier")) is not None:
        given["scaleTier"] = enum_name(str(tier))
    for name, field in _COUNTS.items():
        if (count := options.get(name)) is not None:
            given[field] = str(count)
    for name, field in _ACCELERATORS.items():
        if isinstance(accelerator := options.get(name), dict):
            _put(given, (field, "acceleratorConfig"), _accelerator(name, accelerator))


def _accelerator(option: str, given: Mapping[str, str]) -> JsonObject:
    if "type" not in given:
        raise InvalidArgument(f"--{option.replace('_', '-')}: the key type is missing")
    return {"type": enum_name(given["type"]), "count": given.get("count", "1")}


def _put(parent: JsonObject, path: Sequence[str], value: JsonValue) -> None:
    for key in path[:-1]:
        parent = copy_object(parent, key)
    parent[path[-1]] = value


@dataclass(frozen=True)
class PackageArguments:
    """The options for packages, and the location to which local ones are uploaded."""

    job: str
    asked: PackageOptions
    job_dir: str | None
    module: tuple[str, str] | None = None
    """Where it was given, and what: the module that is to run."""

    def stage(self, storage: PackageStore) -> list[str]:
        """Builds and uploads local packages; returns the URIs of all, the built one's first."""
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
        """Returns the packages' future URIs, as far as they are known before anything is built."""
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
        click.secho(f"Would build and upload {', '.join(uris)}", err=True, dim=True)
        return [*uris, *self._remote()]

    def _check_module(self, built: Archive) -> None:
        """Checks that the built package has the module, unless another package may have it."""
        package_path = self.asked.package_path
        if self.module is not None and package_path is not None and not self.asked.packages:
            parent = Path(package_path).expanduser().resolve().parent
            field, module = self.module
            check_module(module, built, own_build=is_project(parent), field=field)

    def uploads(self) -> Uploads | None:
        """Returns the prefix of later uploads, where the server doesn't look for packages."""
        location = self._location()
        if location is None:
            return None
        prefix = GcsUri(location.bucket, f"{location.path}/")
        return Uploads(prefix, uses=self._find_uses())

    def _find_uses(self) -> tuple[Use, ...]:
        path = self.asked.package_path
        folder = Path(path or ".").expanduser().resolve()
        return find_uses(folder.parent, [folder] if path is not None else [], self._local(), ())

    def _remote(self) -> list[str]:
        return [package for package in self.asked.packages if package.startswith("gs://")]

    def _local(self) -> list[Archive]:
        return [read_package(name) for name in self.asked.packages if not name.startswith("gs://")]

    def _location(self) -> GcsUri | None:
        """Returns where local packages are uploaded to; None if there are none."""
        asked = self.asked
        if asked.package_path is None and len(self._remote()) == len(asked.packages):
            return None
        location = staging_location(self.job, asked.staging_bucket, self.job_dir)
        if location is None:
            raise click.UsageError(
                "local packages need a bucket: give --staging-bucket or --job-dir"
            )
        return location
