"""Describes the routes of Cloud Storage as methods. Pure.

Its API has each name of a path as a parameter of its own, and uploads and downloads beside the
objects' own addresses.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from starlette.routing import Route

from footplate.api.discovery_v1.rest_methods import Resources
from footplate.api.discovery_v1.types import query_parameter
from footplate.api.storage_v1.accepted_parameters import HONOURED, without_effect
from footplate.wire.json_text import JsonObject

if TYPE_CHECKING:
    from pydantic import JsonValue

SERVICE_PATH = "storage/v1/"
BATCH_PATH = "batch/storage/v1"
_OBJECT = "b/{bucket}/o/{object}"
_SOURCE, _TARGET = (
    "b/{sourceBucket}/o/{sourceObject}",
    "b/{destinationBucket}/o/{destinationObject}",
)
_VARIABLE = re.compile(r"\{([^{}]*)\}")
_TEXT: JsonObject = {"type": "string"}
_LONG: JsonObject = {"type": "string", "format": "int64"}
_FLAG: JsonObject = {"type": "boolean"}
_COUNT: JsonObject = {"type": "integer", "format": "uint32"}
_TEXTS: JsonObject = {"type": "object", "additionalProperties": _TEXT}
_ANY_OBJECT: JsonObject = {"type": "object", "additionalProperties": {"type": "any"}}
_OF_ALL = frozenset(
    {
        *("$.xgafv", "access_token", "alt", "key", "oauth_token", "prettyPrint", "quotaUser"),
        *("trace", "upload_id", "upload_protocol", "uploadType", "userIp"),
    }
)
"""Parameters that a document has once for all its methods, and steps of uploads."""
_KINDS: Mapping[str, JsonObject] = MappingProxyType(
    {
        "generation": _LONG,
        "includeTrailingDelimiter": _FLAG,
        "maxResults": _COUNT,
        "permissions": {"type": "array", "items": _TEXT},
        "softDeleted": _FLAG,
        "sourceGeneration": _LONG,
    }
)
"""Of query parameters that aren't texts."""


@dataclass(frozen=True)
class _Method:
    """A method's description. ``path`` is relative to the service's; empty for the route's."""

    resource: str
    name: str
    response: str = ""
    request: str = ""
    path: str = ""


_METHODS: Mapping[tuple[str, str], tuple[_Method, ...]] = MappingProxyType(
    {
        ("GET", "b"): (_Method("buckets", "list", "Buckets"),),
        ("POST", "b"): (_Method("buckets", "insert", "Bucket", "Bucket"),),
        ("GET", "b/{bucket}"): (_Method("buckets", "get", "Bucket"),),
        ("PATCH", "b/{bucket}"): (_Method("buckets", "patch", "Bucket", "Bucket"),),
        ("PUT", "b/{bucket}"): (_Method("buckets", "update", "Bucket", "Bucket"),),
        ("DELETE", "b/{bucket}"): (_Method("buckets", "delete"),),
        ("GET", "b/{bucket}/iam"): (_Method("buckets", "getIamPolicy", "Policy"),),
        ("PUT", "b/{bucket}/iam"): (_Method("buckets", "setIamPolicy", "Policy", "Policy"),),
        ("GET", "b/{bucket}/iam/testPermissions"): (
            _Method("buckets", "testIamPermissions", "TestIamPermissionsResponse"),
        ),
        ("GET", "b/{bucket}/storageLayout"): (
            _Method("buckets", "getStorageLayout", "BucketStorageLayout"),
        ),
        ("GET", "b/{bucket}/managedFolders"): (
            _Method("managedFolders", "list", "ManagedFolders"),
        ),
        ("GET", "b/{bucket}/o"): (_Method("objects", "list", "Objects"),),
        ("GET", _OBJECT): (_Method("objects", "get", "Object"),),
        ("DELETE", _OBJECT): (_Method("objects", "delete"),),
        ("PATCH", _OBJECT): (_Method("objects", "patch", "Object", "Object"),),
        ("PUT", _OBJECT): (_Method("objects", "update", "Object", "Object"),),
        ("POST", _OBJECT): (
            _Method(
                "objects",
                "compose",
                "Object",
                "ComposeRequest",
                path=f"{_TARGET}/compose",
            ),
            _Method(
                "objects",
                "copy",
                "Object",
                "Object",
                path=f"{_SOURCE}/copyTo/{_TARGET}",
            ),
            _Method(
                "objects",
                "rewrite",
                "RewriteResponse",
                "Object",
                path=f"{_SOURCE}/rewriteTo/{_TARGET}",
            ),
        ),
        ("POST", "upload/b/{bucket}/o"): (
            _Method(
                "objects",
                "insert",
                "Object",
                "Object",
                path="b/{bucket}/o",
            ),
        ),
    }
)
"""By the route that serves them."""
PARTS_OF_METHODS = frozenset(
    {
        ("GET", f"download/{_OBJECT}"),
        *(("PUT", f"{way}/b/{{bucket}}/o") for way in ("upload", "resumable/upload")),
        *(("DELETE", f"{way}/b/{{bucket}}/o") for way in ("upload", "resumable/upload")),
        ("POST", "resumable/upload/b/{bucket}/o"),
        ("POST", "batch"),
    }
)
"""Routes that are steps of uploads, downloads and batches, and no methods of their own."""
_UPLOADS: Mapping[str, JsonValue] = MappingProxyType(
    {
        "simple": {"multipart": True, "path": "/upload/storage/v1/b/{bucket}/o"},
        "resumable": {"multipart": True, "path": "/resumable/upload/storage/v1/b/{bucket}/o"},
    }
)
_FIELDS: Mapping[str, Mapping[str, JsonObject]] = MappingProxyType(
    {
        "Bucket": {
            **dict.fromkeys(
                (
                    *("kind", "id", "name", "selfLink", "project", "target", "location"),
                    *("locationType", "storageClass", "etag", "timeCreated", "updated"),
                ),
                _TEXT,
            ),
            **dict.fromkeys(("projectNumber", "generation", "metageneration"), _LONG),
            "readOnly": _FLAG,
            "labels": _TEXTS,
            "iamConfiguration": _ANY_OBJECT,
        },
        "Buckets": {
            "kind": _TEXT,
            "nextPageToken": _TEXT,
            "items": {"type": "array", "items": {"$ref": "Bucket"}},
        },
        "Object": {
            **dict.fromkeys(
                (
                    *("kind", "id", "selfLink", "mediaLink", "name", "bucket", "contentType"),
                    *("storageClass", "etag", "timeCreated", "updated", "crc32c", "md5Hash"),
                    *("timeStorageClassUpdated", "cacheControl", "contentDisposition"),
                    *("contentEncoding", "contentLanguage", "customTime"),
                ),
                _TEXT,
            ),
            **dict.fromkeys(("generation", "metageneration", "size"), _LONG),
            "metadata": _TEXTS,
        },
        "Objects": {
            "kind": _TEXT,
            "nextPageToken": _TEXT,
            "prefixes": {"type": "array", "items": _TEXT},
            "items": {"type": "array", "items": {"$ref": "Object"}},
        },
        "ComposeRequest": {
            "kind": _TEXT,
            "destination": {"$ref": "Object"},
            "sourceObjects": {"type": "array", "items": _ANY_OBJECT},
        },
        "RewriteResponse": {
            "kind": _TEXT,
            "totalBytesRewritten": _LONG,
            "objectSize": _LONG,
            "done": _FLAG,
            "rewriteToken": _TEXT,
            "resource": {"$ref": "Object"},
        },
        "BucketStorageLayout": {
            **dict.fromkeys(("kind", "bucket", "location", "locationType"), _TEXT),
            "hierarchicalNamespace": _ANY_OBJECT,
        },
        "ManagedFolders": {
            "kind": _TEXT,
            "nextPageToken": _TEXT,
            "items": {"type": "array", "items": _ANY_OBJECT},
        },
        "Policy": {
            "kind": _TEXT,
            "resourceId": _TEXT,
            "version": {"type": "integer", "format": "int32"},
            "etag": _TEXT,
            "bindings": {"type": "array", "items": _ANY_OBJECT},
        },
        "TestIamPermissionsResponse": {
            "kind": _TEXT,
            "permissions": {"type": "array", "items": _TEXT},
        },
    }
)


def describe_storage(routes: Iterable[Route]) -> JsonObject:
    """Returns the ``resources`` of a document, and its ``schemas``."""
    tree = Resources()
    for route in routes:
        for verb in sorted((route.methods or set()) - {"HEAD"}):
            place = (verb, _place(route.path))
            if place not in PARTS_OF_METHODS:
                for method in _METHODS[place]:
                    tree.add((method.resource,), method.name, _describe(verb, place[1], method))
    schemas: JsonObject = {
        name: {"id": name, "type": "object", "properties": {**fields}}
        for name, fields in _FIELDS.items()
    }
    return {**tree.encode(), "schemas": schemas}


def _place(path: str) -> str:
    """Returns a route's path below the service: ``upload/b/{bucket}/o`` for
    ``/upload/storage/v1/b/{bucket}/o``.
    """
    place = path.replace("{name:path}", "{object}").replace("/storage/v1", "", 1)
    return place.removeprefix("/")


def _describe(verb: str, place: str, method: _Method) -> JsonObject:
    path = method.path or place
    names, id_ = _VARIABLE.findall(path), f"{method.resource}.{method.name}"
    parameters: JsonObject = {
        name: query_parameter(_KINDS.get(name, _LONG if name.startswith("if") else _TEXT))
        for name in (*HONOURED[id_], *without_effect(id_))
        if name not in _OF_ALL
    }
    for name in names:
        parameters[name] = {**_TEXT, "location": "path", "required": True}
    described: JsonObject = {
        "id": f"storage.{id_}",
        "path": path,
        "httpMethod": verb,
        "parameters": parameters,
        "parameterOrder": [*names],
    }
    if method.request:
        described["request"] = {"$ref": method.request}
    if method.response:
        described["response"] = {"$ref": method.response}
    if method.name == "get" and method.resource == "objects":
        described |= {"supportsMediaDownload": True, "useMediaDownloadService": True}
    if method.name == "insert" and method.resource == "objects":
        described["supportsMediaUpload"] = True
        described["mediaUpload"] = {"accept": ["*/*"], "protocols": {**_UPLOADS}}
    return described
