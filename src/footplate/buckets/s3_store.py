"""Objects in S3, or in storage that is compatible with it.

S3 keeps no checksum of Cloud Storage's kind, and no names of metadata beyond ASCII: both are in a
field of metadata of our own. A generation is made of the time of the last change, which is in
seconds, and of the ETag: another state has another number, but of two within a second the later
one may have the smaller one. A new description of an object is a new state.
"""

from __future__ import annotations

import json
import os
import re
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import boto3
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    PartialCredentialsError,
)

from footplate.buckets.remote_store import RemoteDraft, RemoteObject, RemotePage
from footplate.domain.errors import (
    Aborted,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    Unavailable,
)
from footplate.ports.object_storage import Conditions
from footplate.safe_path import open_regular

PART_BYTES = 16 << 20
_MAX_PARTS = 10_000
_MAX_KEYS = 1000
_OWN = "footplate"
_PLAIN = re.compile(r"[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?")
_PLAIN_NAME = re.compile(r"[a-z0-9][a-z0-9_-]*")
_MD5_TAG = re.compile(r'"([0-9a-f]{32})"')
_HEADERS = {
    "cacheControl": "CacheControl",
    "contentDisposition": "ContentDisposition",
    "contentEncoding": "ContentEncoding",
    "contentLanguage": "ContentLanguage",
}
_DEFAULT_TYPE = "application/octet-stream"
_MISSING = frozenset({"404", "NoSuchKey", "NotFound"})
_CHANGED = frozenset({"412", "PreconditionFailed"})
_BUSY = frozenset({"409", "ConditionalRequestConflict", "OperationAborted"})
_REFUSED = frozenset({"401", "403", "ExpiredToken", "InvalidToken"})
_WRONG = frozenset({"MetadataTooLarge", "KeyTooLongError", "EntityTooLarge", "InvalidArgument"})
_LAST = "\U0010fffd"
_NO_CHARACTERS = {0xDFFF: 0xD7FF, 0xFFFE: 0xFFFD, 0xFFFF: 0xFFFD}
"""What no request may have, and the character before it."""


class S3Store:
    """Implements ``remote_store.RemoteStore``; ``endpoint`` is None for Amazon's own.

    The credentials are those that boto3 finds: in the environment, files or the machine's role.
    """

    def __init__(self, bucket: str, prefix: str, endpoint: str | None) -> None:
        self._bucket = bucket
        self._prefix = prefix
        self._place = f"s3://{bucket}"
        config = Config(
            connect_timeout=5,
            read_timeout=30,
            retries={"mode": "standard", "total_max_attempts": 3},
            max_pool_connections=32,
            s3={"addressing_style": "path"} if endpoint else {},
            request_checksum_calculation="when_required",
            response_checksum_validation="when_required",
        )
        session = boto3.session.Session()
        if session.get_credentials() is None:
            config = config.merge(Config(signature_version=UNSIGNED))
        region = session.region_name or "us-east-1"
        self._client = session.client(
            "s3", endpoint_url=endpoint, config=config, region_name=region
        )

    def close(self) -> None:
        self._client.close()

    def list(self, prefix: str, delimiter: str, start: str, limit: int) -> RemotePage:
        begin = {"StartAfter": self._prefix + _before(start)} if start else {}
        with self._answering():
            answer = self._client.list_objects_v2(
                Bucket=self._bucket,
                Prefix=self._prefix + prefix,
                Delimiter=delimiter,
                MaxKeys=min(limit, _MAX_KEYS),
                **begin,
            )
        cut = len(self._prefix)
        found = [each for each in answer.get("Contents", ()) if len(each["Key"]) > cut]
        prefixes = [each["Prefix"] for each in answer.get("CommonPrefixes", ())]
        return RemotePage(
            tuple(self._listed(each["Key"][cut:], each) for each in found),
            tuple(name[cut:] for name in prefixes),
            not answer["IsTruncated"],
        )

    def stat(self, key: str) -> RemoteObject:
        with self._answering():
            answer = self._client.head_object(Bucket=self._bucket, Key=self._prefix + key)
        own = _read_own(answer["Metadata"])
        metadata = {name: text for name, text in answer["Metadata"].items() if name != _OWN}
        tag = answer["ETag"]
        return RemoteObject(
            key,
            answer["ContentLength"],
            tag,
            _make_generation(answer["LastModified"].timestamp(), tag),
            answer["LastModified"].replace(microsecond=0),
            answer.get("ContentType", _DEFAULT_TYPE),
            own.get("crc32c"),
            bytes.fromhex(own["md5"]) if "md5" in own else _read_md5(tag),
            {**metadata, **own.get("metadata", {})},
            1,
            {name: answer[field] for name, field in _HEADERS.items() if field in answer},
        )

    def read(self, found: RemoteObject, start: int, end: int) -> bytes:
        key, span = self._prefix + found.key, f"bytes={start}-{end - 1}"
        try:
            with self._answering():
                answer = self._client.get_object(
                    Bucket=self._bucket, Key=key, Range=span, IfMatch=found.version
                )
                content: bytes = answer["Body"].read()
        except (FailedPrecondition, NotFound):
            raise Aborted(
                f"object {found.key!r} was replaced or deleted during the read; try again"
            ) from None
        return content

    def put(self, draft: RemoteDraft, path: Path, conditions: Conditions) -> RemoteObject:
        wanted = self._describe(draft)
        guard: dict[str, Any] = {"IfNoneMatch": "*"} if conditions.generation == 0 else {}
        with os.fdopen(open_regular(path), "rb") as file, self._answering():
            size = os.fstat(file.fileno()).st_size
            if size <= PART_BYTES:
                self._client.put_object(**wanted, **guard, Body=file.read())
            else:
                self._put_parts(wanted, guard, file, size)
        return self.stat(draft.key)

    def update(self, draft: RemoteDraft, found: RemoteObject) -> RemoteObject:
        source = {"Bucket": self._bucket, "Key": self._prefix + found.key}
        with self._answering():
            self._client.copy_object(
                **self._describe(draft),
                CopySource=source,
                CopySourceIfMatch=found.version,
                MetadataDirective="REPLACE",
            )
        return self.stat(draft.key)

    def delete(self, found: RemoteObject) -> None:
        with self._answering():
            self._client.delete_object(Bucket=self._bucket, Key=self._prefix + found.key)

    def _put_parts(
        self, wanted: dict[str, Any], guard: dict[str, Any], file: BinaryIO, size: int
    ) -> None:
        part_bytes = max(PART_BYTES, -(-size // _MAX_PARTS))
        place = {"Bucket": wanted["Bucket"], "Key": wanted["Key"]}
        upload = self._client.create_multipart_upload(**wanted)["UploadId"]
        try:
            parts: list[dict[str, Any]] = []
            while content := file.read(part_bytes):
                number = len(parts) + 1
                made = self._client.upload_part(
                    **place, UploadId=upload, PartNumber=number, Body=content
                )
                parts.append({"PartNumber": number, "ETag": made["ETag"]})
            self._client.complete_multipart_upload(
                **place, **guard, UploadId=upload, MultipartUpload={"Parts": parts}
            )
        except BaseException:
            self._client.abort_multipart_upload(**place, UploadId=upload)
            raise

    def _describe(self, draft: RemoteDraft) -> dict[str, Any]:
        plain = {
            name: text
            for name, text in draft.metadata.items()
            if name != _OWN and _PLAIN_NAME.fullmatch(name) and _PLAIN.fullmatch(text)
        }
        rest = {name: text for name, text in draft.metadata.items() if name not in plain}
        own = {"crc32c": draft.crc32c, "md5": draft.md5.hex(), "metadata": rest}
        return {
            "Bucket": self._bucket,
            "Key": self._prefix + draft.key,
            "ContentType": draft.content_type,
            "Metadata": {**plain, _OWN: json.dumps(own)},
            **{_HEADERS[name]: text for name, text in draft.headers.items()},
        }

    def _listed(self, key: str, entry: Mapping[str, Any]) -> RemoteObject:
        """Makes an object of a listing's entry, which has neither type nor metadata."""
        changed, tag = entry["LastModified"], entry["ETag"]
        return RemoteObject(
            key,
            entry["Size"],
            tag,
            _make_generation(changed.timestamp(), tag),
            changed.replace(microsecond=0),
            _DEFAULT_TYPE,
            md5=_read_md5(tag),
        )

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Context manager that translates the store's errors into errors that clients may see."""
        try:
            yield
        except ClientError as error:
            raise self._explain(error) from error
        except (NoCredentialsError, PartialCredentialsError) as error:
            raise PermissionDenied(
                f"the server has no valid credentials for {self._place}: {error}"
            ) from error
        except BotoCoreError as error:
            raise Unavailable(f"the store {self._place} doesn't answer now: {error}") from error

    def _explain(self, error: ClientError) -> Exception:
        status = str(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", ""))
        code = str(error.response.get("Error", {}).get("Code", status))
        reason = f"{code}: {error.response.get('Error', {}).get('Message') or 'no reason given'}"
        if code == "NoSuchBucket":
            return NotFound(f"the bucket {self._place} doesn't exist ({reason})")
        if code in _MISSING:
            return NotFound(f"the store {self._place} has no such object")
        if code in _CHANGED:
            return FailedPrecondition(
                f"the request's condition doesn't hold: the store {self._place} answers {reason}"
            )
        if code in _WRONG:
            return InvalidArgument(f"the store {self._place} refuses this object: {reason}")
        if code in _BUSY:
            return Aborted(f"the store {self._place} is busy with this object: {reason}; try again")
        if status in _REFUSED or code in _REFUSED:
            return PermissionDenied(f"the store {self._place} gives the server no access: {reason}")
        return Unavailable(f"the store {self._place} fails to answer this request now: {reason}")


def _make_generation(changed_s: float, tag: str) -> int:
    return int(changed_s) * 1_000_000 + zlib.crc32(tag.encode()) % 1_000_000


def _read_md5(tag: str) -> bytes | None:
    """Returns the MD5 in an ETag; most stores put it there for one-part uploads."""
    found = _MD5_TAG.fullmatch(tag)
    return bytes.fromhex(found[1]) if found else None


def _read_own(metadata: Mapping[str, str]) -> dict[str, Any]:
    """Returns the data that ``_describe`` wrote; empty for objects of other writers."""
    try:
        own = json.loads(metadata.get(_OWN, "{}"))
    except ValueError:
        return {}
    return own if isinstance(own, dict) else {}


def _before(start: str) -> str:
    """Returns a name just before ``start``, because S3 lists names after a given one."""
    last = ord(start[-1])
    if not last:
        return start[:-1]
    previous = _NO_CHARACTERS.get(last - 1, last - 1)
    return start[:-1] + chr(previous) + _LAST
