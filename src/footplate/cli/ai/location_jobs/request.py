"""Writes options over the config file of a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.wire.json_text import JsonObject

_FIELDS = {
    "network": "network",
    "service_account": "serviceAccount",
    "persistent_resource_id": "persistentResourceId",
}
_SWITCHES = {
    "enable_web_access": "enableWebAccess",
    "enable_dashboard_access": "enableDashboardAccess",
}


def put_run_options(spec: JsonObject, options: Mapping[str, object]) -> None:
    """Into a CustomJobSpec; options that weren't given (None, False) leave it as it is."""
    for name, field in _FIELDS.items():
        if (value := options.get(name)) is not None:
            spec[field] = str(value)
    for name, field in _SWITCHES.items():
        if options.get(name):
            spec[field] = True


def put_job_options(job: JsonObject, options: Mapping[str, object]) -> None:
    """Labels and the encryption key."""
    if isinstance(labels := options.get("labels"), dict):
        job["labels"] = dict(labels)
    if (key := options.get("kms_key_name")) is not None:
        job["encryptionSpec"] = {"kmsKeyName": str(key)}
