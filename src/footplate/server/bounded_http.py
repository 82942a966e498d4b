"""uvicorn's HTTP parser with limits on what a client can make the server hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

if TYPE_CHECKING:
    from typing import Any

MOST_HEAD_BYTES = 64 << 10
"""Of the line and the headers of a request, of its trailers, and of what stands before a chunk;
more only as far as it arrives at once."""
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
