"""HTTP/1.1 of supervisors: a parser without a socket, and a blocking client on top of it.

Other loops drive the same parser: ``replica.nonblocking_http`` and ``replica.launcher``. It knows
only what the server and container engines need. The standard library's http.client would cost 6 MB
and 20 ms in every supervisor, and can't be driven by a poll loop.
"""

from __future__ import annotations

import socket

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Connect = Callable[[], tuple[socket.socket, str]]
    """Opens a connection, and says what stands in ``Host``. Raises OSError."""

    Explain = Callable[[str, OSError], OSError]
    """Makes the error for callers of the method and path that failed, and of the reason."""

BODY_LIMIT_BYTES = 64 << 20
AT_ONCE_BYTES = 65536
_HEAD_LIMIT_BYTES = 65536
_CHUNK_HEAD_LIMIT_BYTES = 1024
_TO_THE_END = -1
_SWITCHING_PROTOCOLS = 101


class BadResponse(OSError):
    """The received bytes are no HTTP response, or only a part of one."""


def format_request(
    method: str, path: str, host: str, token: str, body: bytes | None, *fields: str
) -> bytes:
    """Returns a request's bytes; the body is JSON unless ``fields`` name another Content-Type.

    An empty ``token`` is left out. Raises ValueError for a line break, which would begin another
    request.
    """
    head = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    if token:
        head.append(f"Authorization: Bearer {token}")
    head += ["Accept-Encoding: identity", *fields]
    if body is not None:
        if body and not any(field.startswith("Content-Type:") for field in fields):
            head.append("Content-Type: application/json")
        head.append(f"Content-Length: {len(body)}")
    if any("\r" in line or "\n" in line for line in head):
        raise ValueError(f"a line break in {method} {path!r} or its fields")
    return "\r\n".join([*head, "", ""]).encode("latin-1") + (body or b"")


class Response:
    """Reads one response from pieces of any size.

    ``status`` is 0 until the head is complete; ``done`` is true when the body is. After the head of
    an answer 101, all bytes count as its body, which has no end.
    """

    def __init__(self, limit_bytes: float = BODY_LIMIT_BYTES, *, headless: bool = False) -> None:
        """Creates an empty response. ``headless``: it answers a HEAD, and has no body."""
        self.status = 0
        self.room_bytes = limit_bytes
        """The length that the body may have yet."""
        self.begun = False
        """True once anything has come."""
        self.done = False
        self.content = bytearray()
        """The part of the body that ``gather`` has collected."""
        self._stays_open = False
        self._headless = headless
        self._fields: dict[str, str] = {}
        self._buffer = b""
        self._chunked = False
        self._left = 0

    @property
    def reusable(self) -> bool:
        """Returns whether another request may follow on the same connection."""
        return self.done and self._stays_open and not self._buffer

    def field(self, name: str) -> str:
        """Returns a field of the head, '' if there is none. ``name`` must be in small letters."""
        return self._fields.get(name, "")

    def gather(self, data: bytes) -> bool:
        """Calls ``feed``, appends the result to ``content``, and returns ``done``."""
        self.content += self.feed(data)
        return self.done

    def feed(self, data: bytes) -> bytes:
        """Returns the part of the body that ``data`` completes. Empty data means the connection
        closed.

        Raises:
            BadResponse: the data isn't HTTP, is too long, or ends in the middle.
        """
        if not data:
            self._end()
            return b""
        self.begun = True
        self._buffer += data
        if (not self.status and not self._read_head()) or self.done:
            return b""
        body = self._read_chunks() if self._chunked else self._read_plain()
        self.room_bytes -= len(body)
        if self.room_bytes < 0:
            raise BadResponse("the answer is too long")
        return body

    def _end(self) -> None:
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
        if code < 200 and code != _SWITCHING_PROTOCOLS:
            return
        for line in lines[1:]:
            name, _, value = line.partition(":")
            self._fields[name.strip().lower()] = value.strip()
        length = self.field("content-length")
        if length and not _is_number(length, 10):
            raise BadResponse(f"Content-Length: {length[:60]!r}")
        self._left = int(length) if length else _TO_THE_END
        if code == _SWITCHING_PROTOCOLS:
            self._left = _TO_THE_END
        elif self._headless or code in (204, 304):
            self._left = 0
        elif self.field("transfer-encoding").lower() == "chunked":
            self._chunked, self._left = True, 0
        stays = self.field("connection").lower() or ("keep-alive" if version == "HTTP/1.1" else "")
        self._stays_open = stays == "keep-alive" and self._left != _TO_THE_END
        self.status = code
        self.done = not self._chunked and self._left == 0

    def _read_plain(self) -> bytes:
        if self._left == _TO_THE_END:
            body, self._buffer = self._buffer, b""
            return body
        body, self._buffer = self._buffer[: self._left], self._buffer[self._left :]
        self._left -= len(body)
        self.done = not self._left
        return body

    def _read_chunks(self) -> bytes:
        """Returns the data of the received chunks.

        ``_left`` counts the current chunk with the line end after its data.
        """
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
        """Reads a chunk's size, or the trailer after the last one; returns False if more bytes
        are needed.
        """
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
        self.done = True
        return True


class Answer:
    """A response whose head has arrived. Its body can be read once, by ``read`` or by ``pieces``.

    Both raise the errors of ``Client.request``.
    """

    def __init__(self, response: Response, read_on: Callable[[], bytes]) -> None:
        self.status = response.status
        self.field = response.field
        self._response = response
        self._read_on = read_on

    def read(self) -> bytes:
        """Returns the whole body; it may not be longer than the client's limit."""
        return b"".join(self._pieces())

    def pieces(self) -> Iterator[bytes]:
        """Yields the body as it arrives, of any length."""
        self._response.room_bytes = float("inf")
        return self._pieces()

    def _pieces(self) -> Iterator[bytes]:
        piece = bytes(self._response.content)
        while True:
            if piece:
                yield piece
            if self._response.done:
                return
            piece = self._read_on()


class Client:
    """Sends blocking requests, one after the other, on a connection that is kept between them.

    Requests must be safe to repeat: if the kept connection turns out to be closed, as servers close
    idle ones, the request is sent again on a new one.
    """

    def __init__(
        self,
        connect: Connect,
        explain: Explain,
        token: str = "",
        limit_bytes: int = BODY_LIMIT_BYTES,
    ) -> None:
        self._connect = connect
        self._explain = explain
        self._token = token
        self._limit_bytes = limit_bytes
        self._socket: socket.socket | None = None
        self._host = ""
        self._response: Response | None = None

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def request(
        self, method: str, path: str, body: bytes | Iterator[bytes] | None = None, *fields: str
    ) -> Answer:
        """Sends a request, and waits for the head of the answer, whatever its status.

        A ``body`` in pieces needs its length in ``fields``, and is sent only once. An OSError is
        raised as ``explain`` converts it; other errors of the pieces are raised unchanged.
        """
        if self._response is not None and not self._response.reusable:
            self.close()
        kept, what, whole = self._socket is not None, f"{method} {path}", _is_whole(body)
        response = Response(self._limit_bytes, headless=method == "HEAD")
        self._response = response
        try:
            self._send(method, path, body, fields)
            while not response.status:
                response.gather(self._receive())
        except BaseException as error:
            self.close()
            if not isinstance(error, OSError):
                raise
            if kept and whole and not response.begun and not isinstance(error, socket.timeout):
                return self.request(method, path, body, *fields)
            raise self._explain(what, error) from error
        return Answer(response, lambda: self._read_on(response, what))

    def detach(self, answer: Answer) -> tuple[socket.socket, bytes]:
        """Returns the connection, now a byte stream, and the bytes already received."""
        if self._socket is None:
            raise BadResponse("the connection is closed")
        connected, self._socket = self._socket, None
        return connected, bytes(answer._response.content)

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _send(
        self, method: str, path: str, body: bytes | Iterator[bytes] | None, fields: tuple[str, ...]
    ) -> None:
        if self._socket is None:
            self._socket, self._host = self._connect()
        whole, pieces = (body, ()) if body is None or isinstance(body, bytes) else (None, body)
        head = format_request(method, path, self._host, self._token, whole, *fields)
        self._socket.sendall(head)
        for piece in pieces:
            self._socket.sendall(piece)

    def _receive(self) -> bytes:
        if self._socket is None:
            raise BadResponse("the connection is closed")
        return self._socket.recv(AT_ONCE_BYTES)

    def _read_on(self, response: Response, what: str) -> bytes:
        try:
            return response.feed(self._receive())
        except OSError as error:
            self.close()
            raise self._explain(what, error) from error


def _is_whole(body: object) -> bool:
    return body is None or isinstance(body, bytes)


def _may_be_http(beginning: bytes) -> bool:
    return beginning[:5] == b"HTTP/"[: len(beginning)]


def _is_number(text: str, base: int) -> bool:
    digits = "0123456789abcdefABCDEF" if base == 16 else "0123456789"
    return 0 < len(text) <= 15 and all(c in digits for c in text)
