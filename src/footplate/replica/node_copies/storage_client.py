"""The storage API of a replica's job, as nodes reach it through their launcher."""

from __future__ import annotations

import http.client
import json
import os
from urllib.parse import quote, urlencode

from footplate.replica.http_client import ServerUnavailable, format_host, read_address

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, BinaryIO, Iterator

TIMEOUT_S = 600.0
SMALL_BYTES = 4 << 20
"""What is sent in one request."""
PIECE_BYTES = 64 << 20
"""What is sent again, at most, when a connection breaks."""
_CHUNK_BYTES = 1 << 20
_MAX_JSON_BYTES = 64 << 20
_INCOMPLETE = 308


class StorageFault(Exception):
    """The service answered with an error; ``retry``: it may go well later."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.retry = status >= 500 or status == 429


class FileChanged(Exception):
    """The file isn't as long any more as it was when it was opened."""


class StorageClient:
    """``path`` is that of the storage API on the server, with the program's key in it.

    Methods raise ServerUnavailable when there is no answer, and StorageFault.
    """

    def __init__(self, server_file: str, path: str) -> None:
        self._server_file = server_file
        self._path = path
        self._connection: http.client.HTTPConnection | None = None

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
        answer = self._send("GET", path, None, {"Range": f"bytes={start}-"} if start else {})
        if answer.status != (206 if start else 200):
            self._fail(answer)
        left = int(answer.getheader("Content-Length") or 0)
        while left:
            try:
                chunk = answer.read(min(left, _CHUNK_BYTES))
            except (OSError, http.client.HTTPException) as error:
                raise self._lost(error) from error
            if not chunk:
                raise self._lost(OSError("the answer ends too early"))
            left -= len(chunk)
            yield chunk
        answer.read()

    def put(
        self, bucket: str, name: str, kind: str, file: BinaryIO, size: int, upload: str
    ) -> tuple[int, str]:
        """Sends the first ``size`` bytes; the object appears whole.

        Returns its generation; or 0, and the upload that goes on with the next call, once a piece
        has arrived. ``upload`` is what an earlier call returned. Raises FileChanged, too.
        """
        path = f"/upload/storage/v1/b/{bucket}/o?"
        if size <= SMALL_BYTES:
            body = file.read(size)
            if len(body) != size:
                raise FileChanged
            query = urlencode({"uploadType": "media", "name": name})
            return self._made(self._json("POST", path + query, body, {"Content-Type": kind})), ""
        if not upload:
            query = urlencode({"uploadType": "resumable", "name": name})
            answer = self._send("POST", path + query, b"", {"X-Upload-Content-Type": kind})
            if answer.status != 200:
                self._fail(answer)
            answer.read()
            return 0, str(answer.getheader("X-GUploader-UploadID"))
        path += urlencode({"upload_id": upload})
        answer = self._send("PUT", path, b"", {"Content-Range": f"bytes */{size}"})
        if answer.status == _INCOMPLETE:
            answer.read()
            start = _received(answer)
            end = min(size, start + PIECE_BYTES)
            headers = {
                "Content-Range": f"bytes {start}-{end - 1}/{size}",
                "Content-Length": str(end - start),
            }
            answer = self._send("PUT", path, _pieces(file, start, end), headers)
        if answer.status == _INCOMPLETE:
            answer.read()
            return 0, upload
        if answer.status not in (200, 201):
            self._fail(answer)
        return self._made(_parse(self._read(answer))), ""

    def remove(self, bucket: str, name: str, generation: int) -> None:
        """Unless somebody else has replaced it, or was faster."""
        query = urlencode({"ifGenerationMatch": generation})
        path = f"/storage/v1/b/{bucket}/o/{quote(name, safe='')}?{query}"
        answer = self._send("DELETE", path, None, {})
        if answer.status not in (200, 204, 404, 412):
            self._fail(answer)
        answer.read()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _made(self, found: dict[str, Any]) -> int:
        return int(found["generation"])

    def _json(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        answer = self._send(method, path, body, headers or {})
        if answer.status != 200:
            self._fail(answer)
        return _parse(self._read(answer))

    def _send(
        self,
        method: str,
        path: str,
        body: bytes | Iterator[bytes] | None,
        headers: dict[str, str],
    ) -> http.client.HTTPResponse:
        connection = self._connect()
        try:
            connection.request(method, self._path + path, body, headers)
            return connection.getresponse()
        except FileChanged:
            self.close()
            raise
        except (OSError, http.client.HTTPException) as error:
            raise self._lost(error) from error

    def _connect(self) -> http.client.HTTPConnection:
        if self._connection is None:
            host, port = read_address(self._server_file)
            self._connection = http.client.HTTPConnection(
                format_host(host, port), timeout=TIMEOUT_S
            )
        return self._connection

    def _read(self, answer: http.client.HTTPResponse) -> bytes:
        try:
            return answer.read(_MAX_JSON_BYTES)
        except (OSError, http.client.HTTPException) as error:
            raise self._lost(error) from error

    def _fail(self, answer: http.client.HTTPResponse) -> None:
        """Raises StorageFault."""
        body = self._read(answer)
        self.close()
        try:
            message = str(json.loads(body)["error"]["message"])
        except (ValueError, KeyError, TypeError):
            message = body[:200].decode("utf-8", "replace")
        raise StorageFault(answer.status, message or f"HTTP {answer.status}")

    def _lost(self, error: Exception) -> ServerUnavailable:
        self.close()
        return ServerUnavailable(f"the storage API: {error!r}")


def _received(answer: http.client.HTTPResponse) -> int:
    """Returns how many bytes of an upload have arrived."""
    last = (answer.getheader("Range") or "").rpartition("-")[2]
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


def _parse(body: bytes) -> dict[str, Any]:
    try:
        found = json.loads(body)
    except ValueError as error:
        raise ServerUnavailable(
            "the storage API answered with something that isn't JSON"
        ) from error
    if not isinstance(found, dict):
        raise ServerUnavailable("the storage API answered with something that isn't a JSON object")
    return found
