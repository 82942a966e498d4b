"""Converts buckets and objects to JSON and back."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING

from footplate.api.storage_v1.accepted_fields import check_fields
from footplate.api.storage_v1.object_names import object_path
from footplate.api.storage_v1.query_parameters import decode_checksums
from footplate.domain.bucket_locations import location_type
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.names import PROJECT_NUMBER
from footplate.ports.buckets import Bucket, ObjectInfo
from footplate.ports.object_storage import Draft
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.shared_rules import check_labels
from footplate.wire.timestamps import format_time, parse_time

if TYPE_CHECKING:
    from pydantic import JsonValue

HEADERS = {
    "cacheControl": "Cache-Control",
    "contentDisposition": "Content-Disposition",
    "contentEncoding": "Content-Encoding",
    "contentLanguage": "Content-Language",
    "customTime": "X-Goog-Custom-Time",
}
MAX_METADATA_BYTES = 8 << 10
"""Keys and values of an object's custom metadata. Source: cloud.google.com/storage/quotas."""
DEFAULT_TYPE = "application/octet-stream"


def bucket_resource(bucket: Bucket, base_url: str) -> JsonObject:
    """Returns a bucket's JSON. ``project``, ``target`` and ``readOnly`` are Footplate's own."""
    time = format_time(bucket.create_time)
    owner: JsonObject = {} if bucket.project is None else {"project": bucket.project}
    if bucket.target is not None:
        owner |= {"target": bucket.target, "readOnly": bucket.read_only}
    return {
        "kind": "storage#bucket",
        "id": bucket.name,
        "name": bucket.name,
        "selfLink": f"{base_url}storage/v1/b/{bucket.name}",
        "projectNumber": PROJECT_NUMBER,
        **owner,
        "generation": "1",
        "metageneration": str(bucket.metageneration),
        "location": bucket.location,
        "locationType": location_type(bucket.location),
        "storageClass": "STANDARD",
        "etag": _base64(f"{bucket.metageneration}".encode()),
        "timeCreated": time,
        "updated": time,
        **({"labels": {**bucket.labels}} if bucket.labels else {}),
        "iamConfiguration": {
            "uniformBucketLevelAccess": {"enabled": True},
            "publicAccessPrevention": "inherited",
        },
    }


def labels_of(resource: Mapping[str, JsonValue]) -> dict[str, str]:
    """Returns a bucket's labels from a client's description. Raises InvalidArgument."""
    given = resource.get("labels") or {}
    if not isinstance(given, dict):
        raise _wrong("labels", given, "an object whose values are strings")
    found: dict[str, str] = {}
    for key, text in given.items():
        if not isinstance(text, str):
            raise _wrong(f"labels.{key[:100]}", text, "a string")
        found[key] = text
    if violations := tuple(check_labels(found)):
        raise InvalidArgument.of(violations)
    return found


def patched_labels(bucket: Bucket, patch: Mapping[str, JsonValue]) -> dict[str, str]:
    """Returns the bucket's labels after a patch, in which null removes one label or all."""
    given = patch.get("labels", {})
    if given is None:
        return {}
    if not isinstance(given, dict):
        return labels_of(patch)
    merged = {**bucket.labels, **given}
    return labels_of({"labels": {key: text for key, text in merged.items() if text is not None}})


def object_resource(info: ObjectInfo, base_url: str) -> JsonObject:
    path, time = object_path(info.bucket, info.name), format_time(info.update_time)
    resource: JsonObject = {
        "kind": "storage#object",
        "id": f"{info.bucket}/{info.name}/{info.generation}",
        "selfLink": f"{base_url}{path}",
        "mediaLink": f"{base_url}download/{path}?generation={info.generation}&alt=media",
        "name": info.name,
        "bucket": info.bucket,
        "generation": str(info.generation),
        "metageneration": str(info.metageneration),
        "contentType": info.content_type,
        "storageClass": "STANDARD",
        "size": str(info.size_bytes),
        "etag": etag(info),
        "timeCreated": time,
        "updated": time,
        "timeStorageClassUpdated": time,
        **info.headers,
    }
    if info.crc32c is not None:
        resource["crc32c"] = encode_crc32c(info.crc32c)
    if info.md5 is not None:
        resource["md5Hash"] = _base64(info.md5)
    if info.metadata:
        resource["metadata"] = dict(info.metadata)
    return resource


def media_headers(info: ObjectInfo) -> dict[str, str]:
    """Returns the headers of a download; they keep browsers from running its content."""
    hashes = []
    if info.crc32c is not None:
        hashes.append(f"crc32c={encode_crc32c(info.crc32c)}")
    if info.md5 is not None:
        hashes.append(f"md5={_base64(info.md5)}")
    return {
        "Content-Type": info.content_type,
        "ETag": etag(info),
        "Accept-Ranges": "bytes",
        "X-Goog-Hash": ",".join(hashes),
        "X-Goog-Generation": str(info.generation),
        "X-Goog-Metageneration": str(info.metageneration),
        "X-Goog-Stored-Content-Length": str(info.size_bytes),
        "X-Goog-Stored-Content-Encoding": info.headers.get("contentEncoding", "identity"),
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "sandbox",
        **{HEADERS[key]: value for key, value in info.headers.items()},
    }


def draft_of(bucket: str, name: str, resource: Mapping[str, JsonValue]) -> Draft:
    """Returns an object's draft from a client's description, without the fields that have no
    effect.

    Raises:
        InvalidArgument: a field is wrong; the message names it.
    """
    check_fields("OBJECT", resource)
    headers = {key: _text(resource, key) for key in HEADERS if resource.get(key) is not None}
    if "customTime" in headers:
        headers["customTime"] = _time(headers["customTime"])
    return Draft(
        bucket=bucket,
        name=name,
        content_type=_text(resource, "contentType") or DEFAULT_TYPE,
        metadata=_metadata(resource.get("metadata")),
        headers=headers,
        checksums=decode_checksums(resource.get("crc32c"), resource.get("md5Hash")),
    )


def patched(info: ObjectInfo, patch: Mapping[str, JsonValue]) -> JsonObject:
    """Returns an object's description after a patch, in which null removes a field."""
    check_fields("OBJECT", patch)
    custom = patch.get("metadata", {})
    if isinstance(custom, dict):
        custom = {**info.metadata, **custom}
    fields = {"contentType", *HEADERS} & patch.keys()
    described = {"contentType": info.content_type, **info.headers}
    _check_custom_time(info, patch)
    return {**described, **{key: patch[key] for key in fields}, "metadata": custom}


def _check_custom_time(info: ObjectInfo, patch: Mapping[str, JsonValue]) -> None:
    """Raises an error if a patch moves the custom time back or removes it, as Google does."""
    before = info.headers.get("customTime")
    if before is None or "customTime" not in patch:
        return
    if (_time(_text(patch, "customTime")) if patch["customTime"] else "") < before:
        raise _wrong(
            "customTime",
            patch["customTime"],
            f"{before} or later, because customTime can't be set back",
        )


def etag(info: ObjectInfo) -> str:
    return _base64(f"{info.generation}/{info.metageneration}".encode())


def encode_crc32c(number: int) -> str:
    return _base64(number.to_bytes(4, "big"))


def _metadata(value: JsonValue) -> dict[str, str]:
    if value is None:
        return {}
    if not isinstance(value, dict) or not all(isinstance(v, str | None) for v in value.values()):
        raise _wrong("metadata", value, "an object whose values are strings")
    found = {key: text for key, text in value.items() if isinstance(text, str)}
    if sum(len(k.encode()) + len(t.encode()) for k, t in found.items()) > MAX_METADATA_BYTES:
        raise _wrong("metadata", value, f"{MAX_METADATA_BYTES} bytes")
    return found


def _time(text: str) -> str:
    try:
        return format_time(parse_time(text))
    except ValueError as error:
        raise InvalidArgument.of((Violation("customTime", str(error)),)) from None


def _text(resource: Mapping[str, JsonValue], key: str) -> str:
    value = resource.get(key)
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > 1024 or not value.isascii():
        raise _wrong(key, value, "at most 1024 ASCII characters, because the text becomes a header")
    if not value.isprintable():
        raise _wrong(key, value, "a text without control characters")
    return value


def _wrong(field: str, value: JsonValue, allowed: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, f"{describe(value)} given; allowed: {allowed}"),))


def _base64(value: bytes) -> str:
    return base64.b64encode(value).decode("ascii")
