"""Loads the stores that buckets are bound to, whose packages are extras."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Protocol, cast

from footplate.buckets.bindings import BucketBinding, RemoteTarget
from footplate.buckets.remote_objects import RemoteObjects
from footplate.buckets.remote_store import RemoteStore
from footplate.domain.errors import InvalidArgument, Violation

_KINDS = {
    "s3": ("s3", "footplate.buckets.s3_store", "S3Store"),
    "gs": ("gcs", "footplate.buckets.gcs_store", "GcsStore"),
}
"""The extra, the module and the class, by the scheme of the target."""
_PACKAGES = frozenset({"boto3", "botocore", "google"})


class _MakeStore(Protocol):
    def __call__(self, bucket: str, prefix: str, endpoint: str | None) -> RemoteStore: ...


def open_remotes(bindings: Sequence[BucketBinding]) -> dict[str, RemoteObjects]:
    """Returns the remote objects of buckets that are bound to a store, by name; sends no request.

    Raises InvalidArgument if the store's packages aren't installed.
    """
    found: dict[str, RemoteObjects] = {}
    for index, binding in enumerate(bindings):
        target = binding.remote
        if target is not None:
            make = _load(target, f"buckets[{index}].target", binding.target)
            store = make(target.bucket, target.prefix, binding.endpoint)
            found[binding.name] = RemoteObjects(binding.name, binding.target, store)
    return found


def check_packages(bindings: Sequence[BucketBinding]) -> None:
    """Raises InvalidArgument if the packages for a store aren't installed."""
    for index, binding in enumerate(bindings):
        if binding.remote is not None:
            _load(binding.remote, f"buckets[{index}].target", binding.target)


def _load(target: RemoteTarget, field: str, given: str) -> _MakeStore:
    extra, module, name = _KINDS[target.kind]
    try:
        return cast("_MakeStore", getattr(import_module(module), name))
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        text = (
            f"{given!r} given, but the package {error.name} is not installed; run pip install "
            f"'footplate[{extra}]'"
        )
        raise InvalidArgument.of((Violation(field, text),)) from None
