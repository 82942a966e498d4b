"""uvicorn's HTTP parser and WebSockets with limits on what a client can make the server hold."""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode

from footplate.server.door import Visitor, find_visitor
from footplate.wire.shell_v1 import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    import asyncio

    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
    from websockets.frames import Frame


MOST_PIECES = 1024
"""The most pieces of a message: empty ones add nothing to its size, and could be endless."""
MOST_UNREAD_BYTES = 4 * MAX_MESSAGE_BYTES
"""More than one message, which is what is under way to somebody who doesn't read."""


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """A WebSocket that refuses messages in too many pieces, and closes if pongs stay unread.

    uvicorn stops reading while a message waits, but not for pings and pieces of messages.
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
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, f"the message has over {MOST_PIECES} pieces")
            self.handle_parser_exception()


MOST_HEAD_BYTES = 64 << 10
"""The limit of the line and the headers of a request, of its trailers, and of what stands before a
chunk; more only as far as it arrives at once.
"""
_IDENTITY = re.compile(rb"\r\ntransfer-encoding:[ \t]*identity[ \t]*(?=\r\n)", re.IGNORECASE)
_CHUNKED = re.compile(rb"\r\ntransfer-encoding:[ \t]*chunked[ \t]*\r\n", re.IGNORECASE)
_LENGTH = re.compile(rb"\r\ncontent-length:[ \t]*[0-9]+[ \t]*(?=\r\n)", re.IGNORECASE)
_END = b"\r\n\r\n"
_TOO_LONG = f"the head of the request is too long; allowed: {MOST_HEAD_BYTES} bytes"


HEAD_S = 30.0
"""How long a connection may be silent before its first request, and a head take to arrive."""
BODY_S = 60.0
LEAST_BODY_BYTES = 30_000
"""The least of a body in each ``BODY_S``, while the server is ready to read more."""


class _Phase(Enum):
    """The part of a request that is expected next. With ``NOTHING`` there is no time limit."""

    HEAD = auto()
    BODY = auto()
    NOTHING = auto()


class BoundedRequests(HttpToolsProtocol):
    """HTTP connections with limits: refuses endless heads, which httptools would keep at any
    length.

    Closes connections whose clients take too long to send a request.
    """

    head_s = HEAD_S
    body_s = BODY_S

    def __init__(self, *args: Any, **kwargs: Any) -> None:  # as uvicorn makes it
        super().__init__(*args, **kwargs)
        self._head_bytes = 0
        self._body_bytes = 0
        self._came_on = False
        self._phase = _Phase.HEAD
        self._timed: _Phase | None = None
        """The phase for which the timer runs; None: it has to be set anew."""
        self._timer: asyncio.TimerHandle | None = None
        self._visitor: Visitor | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn's
        super().connection_made(transport)
        self._visitor = find_visitor(transport)
        self._set_timer()

    def connection_lost(self, exc: Exception | None) -> None:
        self._await_nothing()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._came_on = False
        super().data_received(data)
        self._head_bytes = 0 if self._came_on else self._head_bytes + len(data)
        if self._head_bytes > MOST_HEAD_BYTES and not self.transport.is_closing():
            self.send_400_response(_TOO_LONG)
        if self._phase is not self._timed:
            self._set_timer()

    def on_message_begin(self) -> None:
        self._phase = _Phase.HEAD
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._came_on = True
        self._phase, self._timed, self._body_bytes = _Phase.BODY, None, 0
        if self._visitor is not None:
            self._visitor.door.mark_busy(self._visitor)
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        self._came_on = True
        self._body_bytes += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._phase = _Phase.NOTHING
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        # With pipelined requests `cycle` may be that of a later request, which is still served.
        if self.cycle.response_complete:
            self._mark_idle()

    def handle_websocket_upgrade(self) -> None:
        self._await_nothing()
        super().handle_websocket_upgrade()

    def _mark_idle(self) -> None:
        if self._visitor is not None and not self.transport.is_closing():
            self._visitor.door.mark_idle(self._visitor)

    def _await_nothing(self) -> None:
        self._phase = _Phase.NOTHING
        self._set_timer()

    def _set_timer(self) -> None:
        """Starts the timer for the client's current phase."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._timed = self._phase
        self._body_bytes = 0
        if self._phase is not _Phase.NOTHING:
            after = self.head_s if self._phase is _Phase.HEAD else self.body_s
            self._timer = self.loop.call_later(after, self._judge)

    def _judge(self) -> None:
        """Closes the connection at the time limit, unless the server made the client wait."""
        enough = LEAST_BODY_BYTES * self.body_s / BODY_S
        sends = self._phase is _Phase.BODY and self._body_bytes >= enough
        if sends or self.flow.read_paused or self._is_kept_waiting():
            self._set_timer()
        else:
            self._time_out()

    def _is_kept_waiting(self) -> bool:
        """Returns whether the client waits for an earlier answer, or to send its body."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle is None:
            return False
        if self._phase is _Phase.HEAD:
            return not cycle.response_complete
        return cycle.waiting_for_100_continue

    def _time_out(self) -> None:
        in_body = self._phase is _Phase.BODY
        if (in_body and not self.cycle.response_started) or (not in_body and self._head_bytes):
            text = b"the request takes too long to arrive\n"
            self.transport.write(
                STATUS_LINE[408]
                + b"content-type: text/plain; charset=utf-8\r\nconnection: close\r\n"
                + b"content-length: %d\r\n\r\n%b" % (len(text), text)
            )
        self.transport.close()


class TunnelledRequests(BoundedRequests):
    """Accepts TensorFlow's first head on a connection, for which httptools is too strict.

    TensorFlow opens a connection for each request. No other program reads these bytes before or
    after, so no other one could disagree about where a request ends.
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
    """Returns a head that gives the length of its body in only one way.

    ``Transfer-Encoding: identity`` means nothing; beside ``chunked`` a ``Content-Length`` is
    ignored (RFC 9112, 6.3).
    """
    head = _IDENTITY.sub(b"", head)
    return _LENGTH.sub(b"", head) if _CHUNKED.search(head) else head
