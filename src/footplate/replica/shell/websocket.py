"""A WebSocket client for a poll loop."""

from __future__ import annotations

import base64
import hashlib
import os
import select
import socket

from footplate.http1 import AT_ONCE_BYTES, Client
from footplate.replica.http_client import ServerUnavailable, connect, explain
from footplate.replica.shell import websocket_frames
from footplate.replica.shell.websocket_frames import BadFrame, Frames

TYPE_CHECKING = False  # without the module typing, which isn't needed
if TYPE_CHECKING:
    from typing import List, Tuple

_CONGESTED_BYTES = 1 << 16
_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
_NORMAL = 1000
_CLOSE_TIMEOUT_S = 2.0
_HANG_UP = getattr(select, "POLLRDHUP", 0)


class WebSocket:
    """A connected WebSocket, never blocking from then on. ``receive`` answers pings by itself."""

    def __init__(self, connected: socket.socket, first: bytes) -> None:
        """Begins with an open connection; ``first`` holds the bytes that followed the server's
        consent.
        """
        self._socket = connected
        self._socket.setblocking(False)
        self._frames = Frames()
        self._waiting = self._frames.feed(first)
        self._outgoing = bytearray()
        self.open = True
        """False once the other side, or this one, has said goodbye."""

    @classmethod
    def connect(cls, server_file: str, token: str, path: str) -> WebSocket:
        """Connects to the server. Raises ServerUnavailable if there is no server, or it refuses."""
        key = base64.b64encode(os.urandom(16)).decode("ascii")
        fields = ["Upgrade: websocket", "Connection: Upgrade", f"Sec-WebSocket-Key: {key}"]
        client = Client(lambda: connect(server_file), explain, token)
        answer = client.request("GET", path, None, *fields, "Sec-WebSocket-Version: 13")
        connected, first = client.detach(answer)
        try:
            check_consent(answer.status, answer.field("sec-websocket-accept"), key)
            return cls(connected, first)
        except BadFrame as error:
            connected.close()
            raise ServerUnavailable(f"{path}: {error}") from error

    def fileno(self) -> int:
        return self._socket.fileno()

    def events(self, *, reading: bool) -> int:
        """Returns the events to poll for; without ``reading``, only whether the other side is
        gone.
        """
        wanted = (select.POLLIN if reading else 0) | _HANG_UP
        return wanted | (select.POLLOUT if self._outgoing else 0)

    @property
    def congested(self) -> bool:
        """Says whether so much waits to be sent that nothing should be added."""
        return len(self._outgoing) >= _CONGESTED_BYTES

    @property
    def flushed(self) -> bool:
        return not self._outgoing

    def send(self, opcode: int, payload: bytes) -> None:
        """Queues a message, and sends what the other side takes now."""
        if self.open:
            self._outgoing += websocket_frames.encode(
                opcode, payload, os.urandom(websocket_frames.MASK_BYTES)
            )
            self.flush()

    def flush(self) -> None:
        """Sends waiting messages, as far as the other side takes them now."""
        try:
            while self._outgoing:
                sent = self._socket.send(bytes(self._outgoing[:AT_ONCE_BYTES]))
                del self._outgoing[:sent]
        except BlockingIOError:
            return
        except OSError:  # the connection is lost
            self._lose()

    def receive(self) -> List[Tuple[int, bytes]]:
        """Returns the messages that have arrived, TEXT and BINARY; check ``open`` afterwards."""
        found, self._waiting = self._waiting, []
        try:
            data = self._socket.recv(AT_ONCE_BYTES)
            found += self._frames.feed(data)
        except BlockingIOError:
            pass
        except (OSError, BadFrame):  # the connection is lost
            self._lose()
        else:
            if not data:
                self._lose()
        return [message for message in found if self._is_for_us(*message)]

    def say_goodbye(self) -> None:
        """Sends a close frame, after which nothing is sent; it goes out with ``flush``."""
        self.send(websocket_frames.CLOSE, _NORMAL.to_bytes(2, "big"))
        self.open = False

    def finish(self) -> None:
        """Waits after the goodbye until the other side closes, and ignores what it still sends.

        A process that exits with unread input resets the connection: the other side then loses
        what it has not read yet.
        """
        try:
            self._socket.shutdown(socket.SHUT_WR)
            self._socket.settimeout(_CLOSE_TIMEOUT_S)
            while self._socket.recv(AT_ONCE_BYTES):
                pass
        except OSError:  # it is gone, or takes too long
            return

    def close(self) -> None:
        self._lose()
        self._socket.close()

    def _is_for_us(self, opcode: int, payload: bytes) -> bool:
        if opcode == websocket_frames.PING:
            self.send(websocket_frames.PONG, payload)
        elif opcode == websocket_frames.CLOSE:
            self.send(websocket_frames.CLOSE, payload[:2])
            self.open = False
        return opcode in (websocket_frames.TEXT, websocket_frames.BINARY)

    def _lose(self) -> None:
        self.open = False
        self._outgoing.clear()


def check_consent(status: int, accepted: str, key: str) -> None:
    """Checks the server's answer to the handshake. Raises BadFrame if the server doesn't speak
    WebSocket, or refuses us.
    """
    if status != 101:
        raise BadFrame(f"refused: HTTP {status}")
    digest = hashlib.sha1((key + _GUID).encode("ascii")).digest()  # noqa: S324  RFC 6455 says so
    if accepted != base64.b64encode(digest).decode("ascii"):
        raise BadFrame("the server's answer belongs to another request")
