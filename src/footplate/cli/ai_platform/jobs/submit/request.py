"""Builds the Job to send from a config file and options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.defaults import DEFAULT_REGION
from footplate.cli.learn_from import put_learn_from
from footplate.cli.option_values import enum_name
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pydantic import JsonValue

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
_COUNTS = {"worker_count": "workerCount", "parameter_server_count": "parameterServerCount"}


def find_module(config: JsonObject, options: Mapping[str, object]) -> tuple[str, str] | None:
    """The option or the field that says which module is to run, and what it says."""
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
    """The file's job with each option that was given (is not None) in place of the file's value.

    The option ``default_region`` counts only where neither ``region`` nor the file names one.

    Raises:
        InvalidArgument: the file holds something else where the job has an object.
    """
    job: JsonObject = dict(config)
    job["jobId"] = job_id
    if isinstance(labels := options.get("labels"), dict):
        job["labels"] = dict(labels)
    put_learn_from(job, options.get("learn_from"))
    given = _object(job, "trainingInput")
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


def _object(parent: JsonObject, key: str) -> JsonObject:
    """The object at ``key``, copied, made if there is none."""
    value = parent.get(key)
    if not isinstance(value, dict | None):
        raise InvalidArgument(f"--config: {key} is not a mapping")
    child: JsonObject = dict(value or {})
    parent[key] = child
    return child


def _put(parent: JsonObject, path: Sequence[str], value: JsonValue) -> None:
    for key in path[:-1]:
        parent = _object(parent, key)
    parent[path[-1]] = value
