"""Objects in Google Cloud Storage, or behind another server of its JSON API."""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import google.auth
import requests
from google.api_core.client_options import ClientOptions
from google.api_core.exceptions import GoogleAPICallError, RetryError
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError
from google.cloud import storage
from google.cloud.storage.retry import DEFAULT_RETRY

from footplate.buckets.remote_store import RemoteDraft, RemoteObject, RemotePage
from footplate.domain.errors import (
    Aborted,
    FailedPrecondition,
    InvalidArgument,
    NotFound,
    PermissionDenied,
    ServiceError,
    Unavailable,
)
from footplate.ports.object_storage import Conditions
from footplate.safe_path import open_regular

_SCOPE = "https://www.googleapis.com/auth/devstorage.read_write"
_PROJECT = "footplate"
"""The client wants one; calls about objects don't name it."""
_CALL: dict[str, Any] = {"timeout": (5, 30), "retry": DEFAULT_RETRY.with_timeout(20)}
_HEADERS = {
    "cacheControl": "cache_control",
    "contentDisposition": "content_disposition",
    "contentEncoding": "content_encoding",
    "contentLanguage": "content_language",
}
_DEFAULT_TYPE = "application/octet-stream"
_ERRORS: dict[int, type[ServiceError]] = {
    400: InvalidArgument,
    401: PermissionDenied,
    403: PermissionDenied,
    404: NotFound,
    409: Aborted,
    412: FailedPrecondition,
}


class GcsStore:
    """Implements ``remote_store.RemoteStore``; ``endpoint`` is None for Google's own.

    The credentials are the application default ones of the server, if it has any; other endpoints
    don't get them.
    """

    def __init__(self, bucket: str, prefix: str, endpoint: str | None) -> None:
        self._prefix = prefix
        self._place = f"gs://{bucket}"
        options = ClientOptions(api_endpoint=endpoint) if endpoint else None
        credentials = AnonymousCredentials() if endpoint else _find_credentials()
        self._client = storage.Client(
            project=_PROJECT, credentials=credentials, client_options=options
        )
        self._bucket = self._client.bucket(bucket)

    def close(self) -> None:
        self._client.close()

    def list(self, prefix: str, delimiter: str, start: str, limit: int) -> RemotePage:
        found = self._client.list_blobs(
            self._bucket,
            prefix=self._prefix + prefix or None,
            delimiter=delimiter or None,
            start_offset=self._prefix + start or None,
            page_size=limit,
            **_CALL,
        )
        with self._answering():
            page = list(next(found.pages, ()))
        cut = len(self._prefix)
        return RemotePage(
            tuple(self._describe(blob) for blob in page if len(blob.name) > cut),
            tuple(sorted(name[cut:] for name in found.prefixes)),
            not found.next_page_token,
        )

    def stat(self, key: str) -> RemoteObject:
        blob = self._bucket.blob(self._prefix + key)
        with self._answering():
            blob.reload(**_CALL)
        return self._describe(blob)

    def read(self, found: RemoteObject, start: int, end: int) -> bytes:
        blob = self._bucket.blob(self._prefix + found.key, generation=found.generation)
        try:
            with self._answering():
                content: bytes = blob.download_as_bytes(
                    start=start, end=end - 1, raw_download=True, checksum=None, **_CALL
                )
        except NotFound:
            raise Aborted(
                f"object {found.key!r} was replaced or deleted during the read; try again"
            ) from None
        return content

    def put(self, draft: RemoteDraft, path: Path, conditions: Conditions) -> RemoteObject:
        blob = self._make_blob(draft)
        with os.fdopen(open_regular(path), "rb") as file, self._answering():
            blob.upload_from_file(
                file,
                size=os.fstat(file.fileno()).st_size,
                content_type=draft.content_type,
                if_generation_match=conditions.generation,
                if_generation_not_match=conditions.generation_not,
                if_metageneration_match=conditions.metageneration,
                if_metageneration_not_match=conditions.metageneration_not,
                checksum="crc32c",
                **_CALL,
            )
        return self.stat(draft.key)

    def update(self, draft: RemoteDraft, found: RemoteObject) -> RemoteObject:
        blob = self._make_blob(draft)
        blob.content_type = draft.content_type
        with self._answering():
            blob.update(**_state(found), **_CALL)
        return self.stat(draft.key)

    def delete(self, found: RemoteObject) -> None:
        with self._answering():
            self._bucket.blob(self._prefix + found.key).delete(**_state(found), **_CALL)

    def _make_blob(self, draft: RemoteDraft) -> Any:
        blob = self._bucket.blob(self._prefix + draft.key)
        blob.metadata = dict(draft.metadata)
        for name, text in draft.headers.items():
            setattr(blob, _HEADERS[name], text)
        return blob

    def _describe(self, blob: Any) -> RemoteObject:
        headers = {name: getattr(blob, field) for name, field in _HEADERS.items()}
        return RemoteObject(
            blob.name[len(self._prefix) :],
            blob.size,
            str(blob.generation),
            blob.generation,
            blob.updated,
            blob.content_type or _DEFAULT_TYPE,
            int.from_bytes(base64.b64decode(blob.crc32c)) if blob.crc32c else None,
            base64.b64decode(blob.md5_hash) if blob.md5_hash else None,
            blob.metadata or {},
            blob.metageneration,
            {name: text for name, text in headers.items() if text},
        )

    @contextmanager
    def _answering(self) -> Iterator[None]:
        """Context manager that translates the store's errors into errors that clients may see."""
        try:
            yield
        except GoogleAPICallError as error:
            kind = _ERRORS.get(error.code or 0, Unavailable)
            raise kind(f"{self._place} answers {error.code}: {error.message}") from error
        except GoogleAuthError as error:
            raise PermissionDenied(f"{self._place}: no valid credentials: {error}") from error
        except (RetryError, requests.RequestException, OSError) as error:
            raise Unavailable(f"{self._place} doesn't answer now: {error}") from error


def _find_credentials() -> Any:
    """Returns Google's default credentials, or anonymous ones, which read public objects."""
    try:
        return google.auth.default(scopes=[_SCOPE])[0]
    except DefaultCredentialsError:
        return AnonymousCredentials()


def _state(found: RemoteObject) -> dict[str, int]:
    return {
        "if_generation_match": found.generation,
        "if_metageneration_match": found.metageneration,
    }
