"""Fields of buckets and objects that clients send: honoured, without effect, or refused."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic import JsonValue

_OUTPUT = "the service fills it"
_ACCESS = (
    "this service has no access lists: who reaches the server may use all buckets. Leave it out"
)
_CLASS = "storage classes differ only in price, and files of one disk have no classes. Leave it out"
_HOLD = "objects have no holds; bind the bucket read-only (setting buckets), or keep a copy"
_RETENTION = "objects have no retention; bind the bucket read-only (setting buckets)"
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
            "this service has no permissions for it to grant, and doesn't keep it",
        ),
    }
)
REFUSED: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "BUCKET": {
            "acl": _ACCESS,
            "billing": "this service bills no requests; leave it out",
            "cors": (
                "pages of other origins can't read buckets; put a proxy in front that allows them"
            ),
            "customPlacementConfig": "all files are on one disk; leave it out",
            "defaultEventBasedHold": _HOLD,
            "defaultObjectAcl": _ACCESS,
            "encryption": _KEYS,
            "hierarchicalNamespace": "this service has no folder resources; leave it out",
            "iamConfiguration": (
                "all access is uniform; leave it out, or enable uniformBucketLevelAccess"
            ),
            "ipFilter": "this service has no address filter; use a firewall, and leave it out",
            "lifecycle": (
                "this service deletes nothing by age; run `footplate storage rm` from cron"
            ),
            "logging": "this service writes no access logs to buckets; leave it out",
            "retentionPolicy": _RETENTION,
            "rpo": "all files are on one disk; copy the bucket elsewhere",
            "softDeletePolicy": (
                "this service doesn't keep deleted objects; make backups (footplate backup)"
            ),
            "versioning": (
                "this service keeps only the last generation; write new names, or make backups "
                "(footplate backup)"
            ),
            "website": "this service serves no buckets as web sites; leave it out",
        },
        "OBJECT": {
            "acl": _ACCESS,
            "contexts": "objects have no contexts; use metadata",
            "customerEncryption": _KEYS,
            "eventBasedHold": _HOLD,
            "kmsKeyName": _KEYS,
            "retention": _RETENTION,
            "temporaryHold": _HOLD,
        },
        "COMPOSE": {
            "deleteSourceObjects": (
                "composing deletes no parts; delete them once the object is composed"
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

    ``inside``: the field that holds the message, with a dot.
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
    """Values that aren't objects, lists being one value; what is empty asks for nothing."""
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _leaves(f"{path}.{name}", part)
    elif value != []:
        yield path, value


def _is_so(path: str, value: JsonValue) -> bool:
    return value is None or value in _SO_ANYWAY.get(path, _AS_IT_IS)
