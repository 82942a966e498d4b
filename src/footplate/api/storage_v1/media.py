"""Downloads of objects, whole or a byte range."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, BinaryIO

from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response

from footplate.api.storage_v1.resources import media_headers
from footplate.api.storage_v1.responses import error_answer
from footplate.domain.errors import OutOfRange

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from footplate.ports.buckets import ObjectInfo

CHUNK_BYTES = 1 << 20
_RANGE = re.compile(r"\s*bytes\s*=\s*(\d{0,18})\s*-\s*(\d{0,18})\s*", re.ASCII)


def media_answer(info: ObjectInfo, file: BinaryIO, wanted: str) -> Response:
    """``wanted`` is a Range header; the response closes the file."""
    span = parse_range(wanted, info.size_bytes)
    headers = media_headers(info)
    if span is None:
        return FileAnswer(file, 0, info.size_bytes, 200, headers)
    if not span:
        file.close()
        answer = error_answer(OutOfRange(f"the object has {info.size_bytes} bytes"), 416)
        answer.headers["Content-Range"] = f"bytes */{info.size_bytes}"
        return answer
    headers["Content-Range"] = f"bytes {span.start}-{span.stop - 1}/{info.size_bytes}"
    return FileAnswer(file, span.start, len(span), 206, headers)


def parse_range(header: str, size_bytes: int) -> range | None:
    """The requested bytes: None is all (or not understood), empty is unsatisfiable."""
    found = _RANGE.fullmatch(header)
    if found is None or found[1] == found[2] == "":
        return None
    if not found[1]:
        return range(max(0, size_bytes - int(found[2])), size_bytes)
    first = int(found[1])
    last = int(found[2]) if found[2] else size_bytes
    if last < first:
        return None
    return range(first, max(first, min(last + 1, size_bytes)))


class FileAnswer(Response):
    """A part of a file, read in threads, a chunk at a time; closes the file."""

    def __init__(
        self, file: BinaryIO, first: int, size_bytes: int, status: int, headers: dict[str, str]
    ) -> None:
        super().__init__(status_code=status, headers=headers)
        self.headers["Content-Length"] = str(size_bytes)
        self._file = file
        self._first = first
        self._left = size_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            start = {"type": "http.response.start", "status": self.status_code}
            await send({**start, "headers": self.raw_headers})
            await to_thread.run_sync(self._file.seek, self._first)
            while self._left and (chunk := await to_thread.run_sync(self._read)):
                if await request.is_disconnected():
                    return
                self._left -= len(chunk)
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
            # a file that became shorter meanwhile: the connection breaks, the client sees it
            await send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            self._file.close()

    def _read(self) -> bytes:
        return self._file.read(min(CHUNK_BYTES, self._left))
