"""The storage API of a replica's job, as nodes reach it through their launcher."""

from __future__ import annotations

import json
import os
from urllib.parse import quote, urlencode

from footplate.http1 import Client
from footplate.replica.http_client import ServerUnavailable, connect, parse_object

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, BinaryIO, Iterator

    from footplate.http1 import Answer

TIMEOUT_S = 600.0
SMALL_BYTES = 4 << 20
"""What is sent in one request."""
PIECE_BYTES = 64 << 20
"""What is sent again, at most, when a connection breaks."""
_CHUNK_BYTES = 1 << 20
_INCOMPLETE = 308


class StorageFault(Exception):
    """Error with which the service answered; ``retry`` means that a later try may succeed."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.retry = status >= 500 or status == 429


class FileChanged(Exception):
    """Error of a file whose length has changed since it was opened."""


class StorageClient:
    """Client of the server's storage API; ``path`` is the API's path, with the program's key in it.

    Methods raise ServerUnavailable when there is no answer, and StorageFault.
    """

    def __init__(self, server_file: str, path: str) -> None:
        self._path = path
        self._client = Client(lambda: connect(server_file, TIMEOUT_S), _explain)
        self.close = self._client.close

    def list(self, bucket: str, prefix: str) -> Iterator[dict[str, Any]]:
        token = ""
        while True:
            query = {"prefix": prefix, **({"pageToken": token} if token else {})}
            found = self._json("GET", f"/storage/v1/b/{bucket}/o?{urlencode(query)}")
            yield from found.get("items") or ()
            token = str(found.get("nextPageToken") or "")
            if not token:
                return

    def read(self, bucket: str, name: str, generation: int, start: int) -> Iterator[bytes]:
        """Yields the bytes of the object from ``start`` on."""
        query = urlencode({"alt": "media", "generation": generation})
        path = f"/download/storage/v1/b/{bucket}/o/{quote(name, safe='')}?{query}"
        answer = self._send("GET", path, None, *([f"Range: bytes={start}-"] if start else []))
        if answer.status != (206 if start else 200):
            self._fail(answer)
        return answer.pieces()

    def put(
        self, bucket: str, name: str, kind: str, file: BinaryIO, size: int, upload: str
    ) -> tuple[int, str]:
        """Sends the first ``size`` bytes; the object appears when it is complete.

        Returns the object's generation; or 0 and an upload to continue with the next call, once a
        piece has arrived. ``upload`` is what an earlier call returned. Raises FileChanged, too.
        """
        path = f"/upload/storage/v1/b/{bucket}/o?"
        if size <= SMALL_BYTES:
            body = file.read(size)
            if len(body) != size:
                raise FileChanged
            query = urlencode({"uploadType": "media", "name": name})
            return _made(self._json("POST", path + query, body, f"Content-Type: {kind}")), ""
        if not upload:
            query = urlencode({"uploadType": "resumable", "name": name})
            answer = self._send("POST", path + query, b"", f"X-Upload-Content-Type: {kind}")
            if answer.status != 200:
                self._fail(answer)
            answer.read()
            return 0, answer.field("x-guploader-uploadid")
        path += urlencode({"upload_id": upload})
        answer = self._send("PUT", path, b"", f"Content-Range: bytes */{size}")
        if answer.status == _INCOMPLETE:
            answer.read()
            start = _received(answer)
            end = min(size, start + PIECE_BYTES)
            fields = (
                f"Content-Range: bytes {start}-{end - 1}/{size}",
                f"Content-Length: {end - start}",
            )
            answer = self._send("PUT", path, _pieces(file, start, end), *fields)
        if answer.status == _INCOMPLETE:
            answer.read()
            return 0, upload
        if answer.status not in (200, 201):
            self._fail(answer)
        return _made(_parse(answer)), ""

    def remove(self, bucket: str, name: str, generation: int) -> None:
        """Deletes the object, unless another program has replaced or deleted it."""
        query = urlencode({"ifGenerationMatch": generation})
        path = f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}?{query}"
        answer = self._send("DELETE", path, None)
        if answer.status not in (200, 204, 404, 412):
            self._fail(answer)
        answer.read()

    def _json(
        self, method: str, path: str, body: bytes | None = None, *fields: str
    ) -> dict[str, Any]:
        answer = self._send(method, path, body, *fields)
        if answer.status != 200:
            self._fail(answer)
        return _parse(answer)

    def _send(
        self, method: str, path: str, body: bytes | Iterator[bytes] | None, *fields: str
    ) -> Answer:
        return self._client.request(method, self._path + path, body, *fields)

    def _fail(self, answer: Answer) -> None:
        """Raises StorageFault for an answer with an error."""
        body = answer.read()
        self.close()
        try:
            message = str(json.loads(body)["error"]["message"])
        except (ValueError, KeyError, TypeError):
            message = body[:200].decode("utf-8", "replace")
        raise StorageFault(answer.status, message or f"HTTP {answer.status}")


def _explain(_: str, error: OSError) -> ServerUnavailable:
    return ServerUnavailable(f"the storage API: {error!r}")


def _parse(answer: Answer) -> dict[str, Any]:
    return parse_object(answer.read(), "the storage API")


def _made(found: dict[str, Any]) -> int:
    return int(found["generation"])


def _received(answer: Answer) -> int:
    """Returns how many bytes of an upload have arrived."""
    last = answer.field("range").rpartition("-")[2]
    return int(last) + 1 if last else 0


def _pieces(file: BinaryIO, start: int, end: int) -> Iterator[bytes]:
    file.seek(start, os.SEEK_SET)
    left = end - start
    while left:
        chunk = file.read(min(left, _CHUNK_BYTES))
        if not chunk:
            raise FileChanged
        left -= len(chunk)
        yield chunk
