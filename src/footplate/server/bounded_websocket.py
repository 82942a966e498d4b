"""uvicorn's WebSockets with limits on what a client can make the server hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode

from footplate.wire.shell_v1 import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
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
