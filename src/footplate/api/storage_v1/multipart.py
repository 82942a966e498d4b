"""multipart/related uploads: an object's metadata and its bytes in one body."""

from __future__ import annotations

import re
from collections.abc import Iterator

from footplate.domain.errors import InvalidArgument

MAX_LINE_BYTES = 8 << 10
MAX_LINES = 100
MAX_DESCRIPTION_BYTES = 1 << 20
_BOUNDARY = re.compile(r';\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))', re.IGNORECASE)


def boundary_of(content_type: str) -> str | None:
    """Returns the boundary between a body's parts, from its Content-Type; None if it has none."""
    found = _BOUNDARY.search(content_type)
    return None if found is None else found[1] or found[2]


class RelatedParts:
    """The two parts of a multipart/related body, which must be read in order, each to its end.

    Lines may all end in LF alone, as some clients write them.

    Any method raises InvalidArgument if the body isn't of this form or isn't complete.
    """

    def __init__(self, content_type: str, chunks: Iterator[bytes]) -> None:
        boundary = boundary_of(content_type)
        if boundary is None:
            raise InvalidArgument("Content-Type: multipart/related; boundary=... is required")
        self._dashes = b"--" + boundary.encode()
        self._or_dashes = b"--" + boundary.strip("'").encode()  # apitools puts it in such quotes
        self._chunks = chunks
        self._buffer = b""
        self._newline = b""

    def description(self) -> bytes:
        """Returns the whole first part."""
        line = next((line for _ in range(MAX_LINES) if (line := self._line()).strip()), b"")
        if line.rstrip() not in (self._dashes, self._or_dashes):
            raise _broken("the body doesn't begin with the boundary that Content-Type names")
        self._dashes = line.rstrip()
        self._newline = b"\r\n" if line.endswith(b"\r\n") else b"\n"
        self._headers()
        content = b""
        for chunk in self._content():
            content += chunk
            if len(content) > MAX_DESCRIPTION_BYTES:
                raise InvalidArgument(
                    f"the first part of the body has over {MAX_DESCRIPTION_BYTES} bytes"
                )
        self._line()
        return content

    def media_type(self) -> str:
        """Returns the content type of the second part; '' if it has none."""
        return self._headers().get("content-type", "")

    def media(self) -> Iterator[bytes]:
        """Yields the bytes of the second part."""
        yield from self._content()
        while len(self._buffer) < 2 and self._read():
            pass
        if not self._buffer.startswith(b"--"):
            raise _broken("the body has more than two parts, or is incomplete")
        while self._read():
            self._buffer = b""

    def _content(self) -> Iterator[bytes]:
        """Yields the content up to the next boundary, which it removes."""
        while len(self._buffer) < len(self._dashes) and self._read():
            pass
        if self._buffer.startswith(self._dashes):  # nothing, not even the end of a line
            self._buffer = self._buffer[len(self._dashes) :]
            return
        mark = self._newline + self._dashes
        while (place := self._buffer.find(mark)) < 0:
            if (ready := len(self._buffer) - len(mark) + 1) > 0:
                yield self._buffer[:ready]
                self._buffer = self._buffer[ready:]
            if not self._read():
                raise _broken("the body ends before its last boundary")
        yield self._buffer[:place]
        self._buffer = self._buffer[place + len(mark) :]

    def _headers(self) -> dict[str, str]:
        headers: dict[str, str] = {}
        for _ in range(MAX_LINES):
            line = self._line().rstrip(b"\r\n")
            if not line:
                return headers
            name, _, value = line.decode("latin-1").partition(":")
            headers[name.strip().lower()] = value.strip()
        raise _broken(f"a part of the body has over {MAX_LINES} headers")

    def _line(self) -> bytes:
        while (end := self._buffer.find(b"\n")) < 0:
            if len(self._buffer) > MAX_LINE_BYTES:
                raise _broken(f"a header line of the body has over {MAX_LINE_BYTES} bytes")
            if not self._read():
                raise _broken("the body ends in the middle of a line")
        line, self._buffer = self._buffer[: end + 1], self._buffer[end + 1 :]
        return line

    def _read(self) -> bool:
        chunk = next(self._chunks, b"")
        self._buffer += chunk
        return bool(chunk)


def _broken(problem: str) -> InvalidArgument:
    return InvalidArgument(f"the body is not multipart/related with two parts: {problem}")
