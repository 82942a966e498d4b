"""Query parameters of each method: which are honoured, without effect, or refused.

One that stands in no table is refused, as a list that ignores a filter would hand out too much.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from starlette.datastructures import QueryParams

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_text import describe


def _conditions(word: str = "") -> tuple[str, ...]:
    kinds = ("Generation", "Metageneration")
    return tuple(f"if{word}{kind}{way}" for kind in kinds for way in ("Match", "NotMatch"))


_ONE = ("generation", *_conditions())
_BUCKET = ("ifMetagenerationMatch", "ifMetagenerationNotMatch")
HONOURED: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "buckets.list": ("project", "prefix", "maxResults", "pageToken", "softDeleted"),
        "buckets.insert": ("project",),
        "buckets.get": _BUCKET,
        "buckets.patch": _BUCKET,
        "buckets.update": _BUCKET,
        "buckets.delete": _BUCKET,
        "buckets.getIamPolicy": (),
        "buckets.setIamPolicy": (),
        "buckets.testIamPermissions": ("permissions",),
        "buckets.getStorageLayout": (),
        "managedFolders.list": (),
        "objects.list": (
            *("prefix", "delimiter", "matchGlob", "maxResults", "pageToken", "startOffset"),
            *("endOffset", "includeTrailingDelimiter", "softDeleted"),
        ),
        "objects.get": _ONE,
        "objects.delete": _ONE,
        "objects.patch": _ONE,
        "objects.update": _ONE,
        "objects.compose": _conditions(),
        "objects.copy": ("sourceGeneration", *_conditions(), *_conditions("Source")),
        "objects.rewrite": ("sourceGeneration", *_conditions(), *_conditions("Source")),
        "objects.insert": ("name", "contentEncoding", "uploadType", "upload_id", *_conditions()),
    }
)
"""By method; ``fields`` is honoured by all."""
_EVERYWHERE: Mapping[str, str] = MappingProxyType(
    {
        "$.xgafv": "the form of errors is always the same",
        "access_token": (
            "the service reads a token from the Authorization header or from the parameter 'key'"
        ),
        "alt": "the path says whether the answer is bytes or JSON",
        "key": "the service reads key only if the server requires a token",
        "oauth_token": (
            "the service reads a token from the Authorization header or from the parameter 'key'"
        ),
        "prettyPrint": "the server always writes JSON without line breaks",
        "projection": "objects have no access lists, which projection would leave out",
        "quotaUser": "the service has no quota of requests",
        "trace": "requests aren't traced",
        "upload_protocol": "uploadType says it",
        "uploadType": "only methods that receive an object's content read uploadType",
        "userIp": "the service has no quota of requests",
        "userProject": "requests aren't billed",
    }
)
_NO_ROLES = "the service has no roles: everyone who reaches the server may do everything"
WITHOUT_EFFECT: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "buckets.list": {"returnPartialSuccess": "the list is always complete"},
        "buckets.getIamPolicy": {"optionsRequestedPolicyVersion": _NO_ROLES},
        "buckets.getStorageLayout": {"prefix": "all objects of a bucket have one layout"},
        "managedFolders.list": dict.fromkeys(
            ("maxResults", "pageSize", "pageToken", "prefix"), "there are no managed folders"
        ),
        "objects.list": {
            "includeFoldersAsPrefixes": "the list never shows folders without objects",
            "versions": "the service keeps only the last generation of an object",
        },
        "objects.patch": {"overrideUnlockedRetention": "objects have no retention"},
        "objects.update": {"overrideUnlockedRetention": "objects have no retention"},
        "objects.compose": {"dropContextGroups": "objects have no contexts"},
        "objects.rewrite": {
            "dropContextGroups": "objects have no contexts",
            "maxBytesRewrittenPerCall": "one call rewrites the whole object, whatever its size",
            "rewriteToken": "one call rewrites the whole object, whatever its size",
        },
    }
)
"""By method, with the reason; those of every method are in ``without_effect``."""
_ACCESS = f"access lists aren't supported: {_NO_ROLES}; leave this parameter out"
_KEYS = "this service has no Cloud KMS; leave this parameter out, and encrypt the disk instead"
_DELETED = (
    "this service doesn't keep deleted objects and buckets; restore a backup (footplate restore)"
)
REFUSED: Mapping[str, str] = MappingProxyType(
    {
        "destinationKmsKeyName": _KEYS,
        "destinationPredefinedAcl": _ACCESS,
        "enableObjectRetention": (
            "this service has no retention of objects; make the bucket "
            "read-only instead (setting buckets)"
        ),
        "filter": "this service has no contexts of objects; filter by prefix or matchGlob",
        "generation": "this service keeps no generations of buckets; leave this parameter out",
        "kmsKeyName": _KEYS,
        "predefinedAcl": _ACCESS,
        "predefinedDefaultObjectAcl": _ACCESS,
        "restoreToken": _DELETED,
        "softDeleted": _DELETED,
    }
)
"""Google's parameters, with the way out. A flag that is off isn't refused."""
_FLAGS = frozenset({"enableObjectRetention", "softDeleted"})


def without_effect(method: str) -> Mapping[str, str]:
    return {**_EVERYWHERE, **WITHOUT_EFFECT.get(method, {})}


def check_parameters(method: str, query: QueryParams) -> None:
    """Raises InvalidArgument, naming all query parameters that are in no table."""
    known = {"fields", *HONOURED[method], *without_effect(method)}
    wrong = [
        Violation(name, _problem(method, name))
        for name, value in dict(query).items()
        if name not in known and not (name in _FLAGS and value.lower() == "false")
    ]
    wrong += [
        Violation("alt", f"{describe(value)} given; allowed: json, media")
        for value in query.getlist("alt")
        if value not in ("", "json", "media")
    ]
    if wrong:
        raise InvalidArgument.of(tuple(wrong))


def _problem(method: str, name: str) -> str:
    if found := REFUSED.get(name):
        return f"not supported: {found}"
    honoured = ", ".join(sorted({"fields", *HONOURED[method]}))
    return f"unknown name: {method} has no such query parameter; allowed: {honoured}"
