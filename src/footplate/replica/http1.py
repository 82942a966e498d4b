"""Formats HTTP/1.1 requests and parses responses, without a socket.

Only what the replica API needs; http.client would cost 6 MB and 20 ms in every supervisor.
"""

from __future__ import annotations

_HEAD_LIMIT_BYTES = 65536
_CHUNK_HEAD_LIMIT_BYTES = 1024
_TO_THE_END = -1


class BadResponse(Exception):
    """The data isn't a response, or only a part of one."""


def format_request(
    method: str, path: str, host: str, token: str, body: bytes | None, *fields: str
) -> bytes:
    """Returns the bytes of a request; a body is JSON. Without a token, if that is empty."""
    head = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    if token:
        head.append(f"Authorization: Bearer {token}")
    head += ["Accept-Encoding: identity", *fields]
    if body is not None:
        head += ["Content-Type: application/json", f"Content-Length: {len(body)}"]
    return "\r\n".join([*head, "", ""]).encode("latin-1") + (body or b"")


class Response:
    """Reads one response from pieces of any size.

    ``status`` is 0 until the head is complete; ``done`` says that the body is, ``reusable``
    that another request may follow on the same connection.
    """

    __slots__ = ("_buffer", "_chunked", "_left", "done", "reusable", "status")

    def __init__(self) -> None:
        self.status = 0
        self.done = False
        self.reusable = True
        self._buffer = b""
        self._chunked = False
        self._left = 0

    def feed(self, data: bytes) -> bytes:
        """Returns the part of the body that ``data`` completes.

        Raises:
            BadResponse: this is no HTTP.
        """
        self._buffer += data
        if not self.status and not self._read_head():
            return b""
        if self.done:
            self.reusable = self.reusable and not self._buffer
            return b""
        return self._read_chunks() if self._chunked else self._read_plain()

    def end(self) -> None:
        """The connection was closed.

        Raises:
            BadResponse: in the middle of the response.
        """
        if self.done:
            return
        if not self.status or self._chunked or self._left != _TO_THE_END:
            raise BadResponse("the connection broke in the middle of a response")
        self.done = True

    def _read_head(self) -> bool:
        while not self.status:
            head, end, rest = self._buffer.partition(b"\r\n\r\n")
            if not end:
                if len(self._buffer) > _HEAD_LIMIT_BYTES or not _may_be_http(self._buffer):
                    raise BadResponse(f"not HTTP: {self._buffer[:60]!r}")
                return False
            self._buffer = rest
            self._interpret(head.decode("latin-1").split("\r\n"))
        return True

    def _interpret(self, lines: list[str]) -> None:
        version, _, status = lines[0].partition(" ")
        if version not in ("HTTP/1.1", "HTTP/1.0") or not _is_number(status[:3], 10):
            raise BadResponse(f"not HTTP: {lines[0][:60]!r}")
        code = int(status[:3])
        if code < 200:
            return
        fields = {}
        for line in lines[1:]:
            name, _, value = line.partition(":")
            fields[name.strip().lower()] = value.strip().lower()
        self._chunked = fields.get("transfer-encoding", "") == "chunked"
        length = fields.get("content-length")
        if length is not None and not _is_number(length, 10):
            raise BadResponse(f"Content-Length: {length[:60]!r}")
        self._left = _TO_THE_END if length is None else int(length)
        closes = fields.get("connection", "keep-alive" if version == "HTTP/1.1" else "") != (
            "keep-alive"
        )
        if code in (204, 304):
            self._chunked = False
        if code in (204, 304) or self._chunked:
            self._left = 0
        self.status = code
        self.done = not self._chunked and self._left == 0
        self.reusable = not closes and self._left != _TO_THE_END

    def _read_plain(self) -> bytes:
        if self._left == _TO_THE_END:
            body, self._buffer = self._buffer, b""
            return body
        body, self._buffer = self._buffer[: self._left], self._buffer[self._left :]
        self._left -= len(body)
        if not self._left:
            self._finish()
        return body

    def _read_chunks(self) -> bytes:
        """``_left`` counts the current chunk with the line end that follows its data."""
        parts = []
        while not self.done:
            if not self._left and not self._open_chunk():
                break
            if not self._left:
                continue
            piece = self._buffer[: self._left]
            if not piece:
                break
            self._buffer = self._buffer[len(piece) :]
            parts.append(piece[: max(0, self._left - 2)])
            self._left -= len(piece)
        return b"".join(parts)

    def _open_chunk(self) -> bool:
        """Reads a chunk's size, or the trailer after the last one; False: more bytes needed."""
        line, end, rest = self._buffer.partition(b"\r\n")
        if not end:
            if len(self._buffer) > _CHUNK_HEAD_LIMIT_BYTES:
                raise BadResponse("a chunk without a size")
            return False
        size = line.partition(b";")[0].strip().decode("latin-1")
        if not _is_number(size, 16):
            raise BadResponse(f"a chunk of size {size[:60]!r}")
        if int(size, 16):
            self._buffer, self._left = rest, int(size, 16) + 2
            return True
        return self._skip_trailer(rest)

    def _skip_trailer(self, rest: bytes) -> bool:
        if not rest.startswith(b"\r\n"):
            _, end, after = rest.partition(b"\r\n\r\n")
            if not end:
                if len(rest) > _HEAD_LIMIT_BYTES:
                    raise BadResponse("the response's trailer is too long")
                return False
            rest = b"\r\n" + after
        self._buffer = rest[2:]
        self._finish()
        return True

    def _finish(self) -> None:
        self.done = True
        self.reusable = self.reusable and not self._buffer


def _may_be_http(beginning: bytes) -> bool:
    return beginning[:5] == b"HTTP/"[: len(beginning)]


def _is_number(text: str, base: int) -> bool:
    digits = "0123456789abcdefABCDEF" if base == 16 else "0123456789"
    return 0 < len(text) <= 15 and all(c in digits for c in text)
