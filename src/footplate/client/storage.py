"""Buckets and objects, by the GCS JSON API."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING
from urllib.parse import quote

import google_crc32c

from footplate.client.resources import Bucket, StoredObject
from footplate.domain.errors import DataLoss

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.client.connection import Connection
    from footplate.domain.names import GcsUri


class Storage:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def create_bucket(self, project: str, name: str, location: str = "") -> Bucket:
        """Raises AlreadyExists."""
        body = {"name": name, "location": location} if location else {"name": name}
        answer = self._connection.call(
            "POST", "/storage/v1/b", params={"project": project}, body={**body}
        )
        return Bucket.read(answer)

    def buckets(self, project: str) -> tuple[Bucket, ...]:
        answer = self._connection.call("GET", "/storage/v1/b", params={"project": project})
        items = answer.get("items")
        found = items if isinstance(items, list) else []
        return tuple(Bucket.read(item) for item in found if isinstance(item, dict))

    def upload(
        self, uri: GcsUri, content: bytes, content_type: str = "application/octet-stream"
    ) -> StoredObject:
        """Make or replace an object.

        Raises:
            NotFound: the bucket isn't there.
            DataLoss: what arrived is not what was sent.
        """
        answer = self._connection.send(
            "POST",
            f"/upload/storage/v1/b/{quote(uri.bucket, safe='')}/o",
            params={"uploadType": "media", "name": uri.path},
            content=content,
            content_type=content_type,
        )
        stored = StoredObject.read(answer)
        if stored.crc32c != checksum(content):
            raise DataLoss(f"{uri} arrived with another checksum than it was sent with")
        return stored

    def objects(self, uri: GcsUri) -> Iterator[StoredObject]:
        """All whose names begin with the path of ``uri``."""
        path = f"/storage/v1/b/{quote(uri.bucket, safe='')}/o"
        params = {"prefix": uri.path} if uri.path else {}
        while True:
            answer = self._connection.call("GET", path, params=params)
            items = answer.get("items")
            for item in items if isinstance(items, list) else []:
                if isinstance(item, dict):
                    yield StoredObject.read(item)
            token = answer.get("nextPageToken")
            if not token:
                return
            params["pageToken"] = str(token)

    def download(self, uri: GcsUri) -> Iterator[bytes]:
        """Raises NotFound."""
        bucket, name = quote(uri.bucket, safe=""), quote(uri.path, safe="")
        path = f"/download/storage/v1/b/{bucket}/o/{name}"
        return self._connection.download(path, {"alt": "media"})


def checksum(content: bytes) -> str:
    """CRC32C as the API writes it."""
    number: int = google_crc32c.value(content)
    return base64.b64encode(number.to_bytes(4, "big")).decode("ascii")
