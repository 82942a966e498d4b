"""uvicorn's HTTP parser and WebSockets with limits on what a client can make the server hold."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode

from footplate.wire.shell_v1 import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from typing import Any

    from websockets.frames import Frame


MOST_PIECES = 1024
"""Of one message. Empty ones count for nothing in its size, and so could be without end."""
MOST_UNREAD_BYTES = 4 * MAX_MESSAGE_BYTES
"""More than one message, which is what is under way to somebody who doesn't read."""


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """Refuses messages in too many pieces, and drops who asks for more pongs than he reads.

    uvicorn stops reading while a message waits; pings and pieces of messages don't count there.
    """

    def handle_ping(self) -> None:
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MOST_UNREAD_BYTES:
            self.transport.abort()

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < MOST_PIECES:
            super().handle_cont(event)
        elif not self.close_sent:
            self.frames.clear()
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, f"over {MOST_PIECES} pieces in a message")
            self.handle_parser_exception()


MOST_HEAD_BYTES = 64 << 10
"""Of the line and the headers of a request, of its trailers, and of what stands before a chunk;
more only as far as it arrives at once."""
_IDENTITY = re.compile(rb"\r\ntransfer-encoding:[ \t]*identity[ \t]*(?=\r\n)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*[0-9]+[ \t]*(?=\r\n)", re.IGNORECASE)
_END = b"\r\n\r\n"
_TOO_LONG = f"the head of the request is too long; allowed: {MOST_HEAD_BYTES} bytes"


class BoundedRequests(HttpToolsProtocol):
    """Refuses heads without an end: httptools keeps them, however long they grow."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # as uvicorn makes it
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._came_on = False

    def data_received(self, data: bytes) -> None:
        self._came_on = False
        super().data_received(data)
        self._head_bytes = 0 if self._came_on else self._head_bytes + len(data)
        if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(_TOO_LONG)

    def on_headers_complete(self) -> None:
        self._came_on = True
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._came_on = True
        super().on_body(body)


class TunnelledRequests(BoundedRequests):
    """Takes the first head of a connection as TensorFlow sends it, where httptools is stricter.

    It opens a connection for each request. Nobody else reads these bytes before or after, so
    there is nobody to disagree with about where a request ends.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._first_head: bytearray | None = bytearray()

    def data_received(self, data: bytes) -> None:
        if self._first_head is not None:
            self._first_head += data
            end = self._first_head.find(_END)
            if end < 0 and len(self._first_head) <= MOST_HEAD_BYTES:
                return
            data, self._first_head = bytes(self._first_head), None
            if end >= 0:
                data = with_one_length(data[: end + 2]) + data[end + 2 :]
        super().data_received(data)


def with_one_length(head: bytes) -> bytes:
    """A head that says the length of its body in one way.

    ``Transfer-Encoding: identity`` says nothing; beside ``chunked`` a ``Content-Length`` doesn't
    count (RFC 9112, 6.3).
    """
    head = _IDENTITY.sub(b"", head)
    return _LENGTH.sub(b"", head) if _CHUNKED.search(head) else head
