"""Client of buckets and objects, by the GCS JSON API."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import google_crc32c

from footplate.client.http_client import Connection
from footplate.client.records import Bucket, StoredObject
from footplate.domain.errors import DataLoss
from footplate.domain.names import GcsUri
from footplate.wire.json_text import objects

_PART_BYTES = 1 << 20


@dataclass(frozen=True)
class Level:
    """A level of a bucket; ``prefixes`` end with a slash."""

    prefixes: tuple[str, ...]
    objects: tuple[StoredObject, ...]


@dataclass(frozen=True)
class Storage:
    _connection: Connection

    def create_bucket(self, project: str, name: str, location: str = "") -> Bucket:
        """Creates a bucket. Raises AlreadyExists."""
        body = {"name": name, "location": location} if location else {"name": name}
        answer = self._connection.call(
            "POST", "/storage/v1/b", params={"project": project}, body={**body}
        )
        return Bucket.read(answer)

    def buckets(self, project: str) -> tuple[Bucket, ...]:
        answer = self._connection.call("GET", "/storage/v1/b", params={"project": project})
        return tuple(map(Bucket.read, objects(answer.get("items"))))

    def upload(
        self, uri: GcsUri, content: bytes, content_type: str = "application/octet-stream"
    ) -> StoredObject:
        """Creates or replaces an object.

        Raises:
            NotFound: the bucket doesn't exist.
            DataLoss: the server received other content.
        """
        stored = self._upload(uri, content, content_type)
        if stored.crc32c != checksum(content):
            raise DataLoss(
                f"the object {uri} arrived damaged: its checksum doesn't match what was sent; try "
                "again"
            )
        return stored

    def objects(self, uri: GcsUri) -> Iterator[StoredObject]:
        """Yields all objects whose names begin with the path of ``uri``."""
        params = {"prefix": uri.path} if uri.path else {}
        return map(StoredObject.read, self._connection.list(_path(uri.bucket), "items", params))

    def level(self, bucket: str, prefix: str) -> Level:
        """Returns the objects below ``prefix`` up to the next slash, and the deeper prefixes."""
        prefixes: list[str] = []
        found: list[StoredObject] = []
        for answer in self._connection.pages(_path(bucket), {"prefix": prefix, "delimiter": "/"}):
            below = answer.get("prefixes")
            prefixes += map(str, below) if isinstance(below, list) else ()
            found += map(StoredObject.read, objects(answer.get("items")))
        return Level(tuple(prefixes), tuple(found))

    def delete(self, uri: GcsUri) -> None:
        """Deletes an object. Raises NotFound."""
        bucket, name = quote(uri.bucket, safe=""), quote(uri.path, safe="")
        self._connection.call("DELETE", f"/storage/v1/b/{bucket}/o/{name}")

    def delete_bucket(self, name: str) -> None:
        """Deletes a bucket. Raises NotFound, or FailedPrecondition if it isn't empty."""
        self._connection.call("DELETE", f"/storage/v1/b/{quote(name, safe='')}")

    def upload_file(self, uri: GcsUri, path: Path) -> StoredObject:
        """Creates or replaces an object, sending the file in parts.

        Raises:
            NotFound: the bucket doesn't exist.
            DataLoss: the server received other content.
        """
        sent = 0

        def parts() -> Iterator[bytes]:
            nonlocal sent
            with path.open("rb") as file:
                while part := file.read(_PART_BYTES):
                    sent = google_crc32c.extend(sent, part)
                    yield part

        stored = self._upload(uri, parts(), "application/octet-stream")
        if stored.crc32c != _encoded(sent):
            raise DataLoss(
                f"the object {uri} arrived damaged: its checksum doesn't match what was sent; try "
                "again"
            )
        return stored

    def download_file(self, uri: GcsUri, path: Path) -> None:
        """Downloads an object to ``path``, which never holds only a part of it. Raises NotFound."""
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f".{path.name}.part")
        try:
            with part.open("wb") as file:
                for chunk in self.download(uri):
                    file.write(chunk)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)

    def copy(self, source: GcsUri, target: GcsUri) -> None:
        """Copies an object within the service. Raises NotFound."""
        there = (quote(text, safe="") for text in (source.bucket, source.path))
        here = (quote(text, safe="") for text in (target.bucket, target.path))
        path = "/storage/v1/b/{}/o/{}/copyTo/b/{}/o/{}".format(*there, *here)
        self._connection.call("POST", path, body={})

    def _upload(
        self, uri: GcsUri, content: bytes | Iterable[bytes], content_type: str
    ) -> StoredObject:
        answer = self._connection.send(
            "POST",
            f"/upload/storage/v1/b/{quote(uri.bucket, safe='')}/o",
            params={"uploadType": "media", "name": uri.path},
            content=content,
            content_type=content_type,
        )
        return StoredObject.read(answer)

    def download(self, uri: GcsUri) -> Iterator[bytes]:
        """Yields an object's content in parts. Raises NotFound."""
        bucket, name = quote(uri.bucket, safe=""), quote(uri.path, safe="")
        path = f"/download/storage/v1/b/{bucket}/o/{name}"
        return self._connection.download(path, {"alt": "media"})


def checksum(content: bytes) -> str:
    """Returns the CRC32C in the API's form."""
    return _encoded(google_crc32c.value(content))


def _encoded(number: int) -> str:
    return base64.b64encode(number.to_bytes(4, "big")).decode("ascii")


def _path(bucket: str) -> str:
    return f"/storage/v1/b/{quote(bucket, safe='')}/o"
