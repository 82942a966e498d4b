"""Fields of buckets and objects that clients send: honoured, without effect, or refused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation

if TYPE_CHECKING:
    from pydantic import JsonValue

_OUTPUT = "the service sets this field"
_ACCESS = (
    "this service has no access lists: everyone who reaches the server may use all buckets. "
    "Leave this field out"
)
_CLASS = "all files are on one disk, which has no storage classes; leave this field out"
_HOLD = (
    "this service has no holds on objects; make the bucket read-only (setting buckets), "
    "or keep a copy"
)
_RETENTION = "this service has no retention of objects; make the bucket read-only (setting buckets)"
_KEYS = "this service has no Cloud KMS; encrypt the disk instead"

HONOURED: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        "BUCKET": frozenset({"name", "location", "labels"}),
        "OBJECT": frozenset(
            {
                *("name", "bucket", "contentType", "contentEncoding", "contentDisposition"),
                *("contentLanguage", "cacheControl", "customTime", "metadata", "crc32c"),
                "md5Hash",
            }
        ),
        "COMPOSE": frozenset({"destination", "sourceObjects"}),
        "POLICY": frozenset(),
    }
)
WITHOUT_EFFECT: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "BUCKET": {
            **dict.fromkeys(
                (
                    *("etag", "generation", "hardDeleteTime", "id", "kind", "locationType"),
                    *("metageneration", "objectRetention", "owner", "project", "projectNumber"),
                    *("readOnly", "satisfiesPZI", "satisfiesPZS", "selfLink", "softDeleteTime"),
                    *("target", "timeCreated", "updated"),
                ),
                _OUTPUT,
            ),
            "autoclass": _CLASS,
            "storageClass": _CLASS,
        },
        "OBJECT": {
            **dict.fromkeys(
                (
                    *("componentCount", "etag", "generation", "hardDeleteTime", "id", "kind"),
                    *("mediaLink", "metageneration", "owner", "restoreToken", "selfLink", "size"),
                    *("retentionExpirationTime", "softDeleteTime", "timeCreated", "timeDeleted"),
                    *("timeFinalized", "timeStorageClassUpdated", "updated"),
                ),
                _OUTPUT,
            ),
            "storageClass": _CLASS,
        },
        "COMPOSE": {"kind": _OUTPUT},
        "POLICY": dict.fromkeys(
            ("bindings", "etag", "kind", "resourceId", "version"),
            "this service has no IAM permissions, and doesn't keep policies",
        ),
    }
)
REFUSED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "BUCKET": {
            "acl": _ACCESS,
            "billing": "this service bills no requests; leave this field out",
            "cors": (
                "web pages of other origins can't read buckets; put a proxy that allows them "
                "in front of the server"
            ),
            "customPlacementConfig": "all files are on one disk; leave this field out",
            "defaultEventBasedHold": _HOLD,
            "defaultObjectAcl": _ACCESS,
            "encryption": _KEYS,
            "hierarchicalNamespace": "this service has no folder resources; leave this field out",
            "iamConfiguration": (
                "access to buckets is always uniform; leave this field out, or enable "
                "uniformBucketLevelAccess"
            ),
            "ipFilter": (
                "this service doesn't filter addresses; leave this field out, and use a firewall"
            ),
            "lifecycle": (
                "this service doesn't delete objects by age; run `footplate storage rm` from cron"
            ),
            "logging": "this service writes no access logs to buckets; leave this field out",
            "retentionPolicy": _RETENTION,
            "rpo": "all files lie on one disk here; for a second copy, copy the bucket elsewhere",
            "softDeletePolicy": (
                "this service doesn't keep deleted objects; make backups (footplate backup)"
            ),
            "versioning": (
                "this service keeps only the last generation of an object; use new names, or "
                "make backups (footplate backup)"
            ),
            "website": "this service serves no buckets as web sites; leave this field out",
        },
        "OBJECT": {
            "acl": _ACCESS,
            "contexts": "this service has no contexts of objects; use metadata",
            "customerEncryption": _KEYS,
            "eventBasedHold": _HOLD,
            "kmsKeyName": _KEYS,
            "retention": _RETENTION,
            "temporaryHold": _HOLD,
        },
        "COMPOSE": {
            "deleteSourceObjects": (
                "compose doesn't delete the source objects; delete them after the call"
            )
        },
        "POLICY": {},
    }
)
"""With the way out. A value that asks for what is so anyway (``_AS_IT_IS``) isn't refused."""
_AS_IT_IS: tuple[JsonValue, ...] = (None, False, "", "0", 0)
_SO_ANYWAY: Mapping[str, tuple[JsonValue, ...]] = MappingProxyType(
    {
        "iamConfiguration.bucketPolicyOnly.enabled": (True,),
        "iamConfiguration.bucketPolicyOnly.lockedTime": (),
        "iamConfiguration.publicAccessPrevention": ("inherited", "unspecified", "enforced"),
        "iamConfiguration.uniformBucketLevelAccess.enabled": (True,),
        "ipFilter.mode": ("Disabled",),
        "rpo": ("DEFAULT",),
    }
)
"""Values of single fields; nothing else will do for these."""


def check_fields(kind: str, given: Mapping[str, JsonValue], inside: str = "") -> None:
    """Raises InvalidArgument, naming every field of a message that is refused or unknown.

    ``inside`` is the field that holds the message, followed by a dot.
    """
    known = HONOURED[kind] | WITHOUT_EFFECT[kind].keys()
    refused = REFUSED[kind]
    wrong = []
    for name, value in given.items():
        if name in refused:
            fields = [path for path, part in _leaves(name, value) if not _is_so(path, part)]
            wrong += [
                Violation(f"{inside}{path}", f"not supported: {refused[name]}") for path in fields
            ]
        elif name not in known and value is not None:
            allowed = ", ".join(sorted(HONOURED[kind]))
            wrong.append(Violation(f"{inside}{name}", f"unknown name; allowed: {allowed}"))
    if wrong:
        raise InvalidArgument.of(tuple(wrong))


def _leaves(path: str, value: JsonValue) -> Iterator[tuple[str, JsonValue]]:
    """Yields paths and values that aren't objects or empty. A list is one value."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(f"{path}.{name}", part)
    elif value != []:
        yield path, value


def _is_so(path: str, value: JsonValue) -> bool:
    return value is None or value in _SO_ANYWAY.get(path, _AS_IT_IS)
