"""What strangers can't have the server keep, over real connections."""

from __future__ import annotations

import base64
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from starlette.types import Receive, Scope, Send
from websockets.frames import Frame, Opcode

from footplate.server.bounded_http import MOST_PIECES, BoundedWebSocket
from tests.support.deadlines import EVENT_S
from tests.support.http_server import serve

MUCH_BYTES = 64 << 20
CLOSED, TOO_BIG = b"\x88", (1009).to_bytes(2, "big")


async def echo(_scope: Scope, receive: Receive, send: Send) -> None:
    """Says of each message how long it is."""
    await receive()
    await send({"type": "websocket.accept"})
    while (message := await receive())["type"] == "websocket.receive":
        await send({"type": "websocket.send", "text": str(len(message["bytes"]))})


def encode(opcode: Opcode, data: bytes, *, last: bool = True) -> bytes:
    return Frame(opcode, data, fin=last).serialize(mask=True)


@contextmanager
def connected() -> Iterator[socket.socket]:
    with serve(echo, BoundedWebSocket) as url:
        split = urlsplit(url)
        key = base64.b64encode(bytes(16)).decode()
        head = (
            f"GET / HTTP/1.1\r\nHost: {split.netloc}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n"
        )
        with socket.create_connection((split.hostname, split.port), EVENT_S) as connection:
            connection.sendall(head.encode())
            while not connection.recv(65536).endswith(b"\r\n\r\n"):
                continue
            yield connection


def flood(connection: socket.socket, data: bytes) -> None:
    for _ in range(MUCH_BYTES // len(data)):
        connection.sendall(data)


def test_pongs_that_nobody_reads_do_not_pile_up() -> None:
    pings = encode(Opcode.PING, bytes(125)) * 500
    with connected() as connection, pytest.raises(ConnectionError):
        flood(connection, pings)


def test_a_message_in_pieces_without_end_is_refused() -> None:
    first, more = (encode(opcode, b"", last=False) for opcode in (Opcode.BINARY, Opcode.CONT))
    with connected() as connection:
        connection.sendall(first + more * (2 * MOST_PIECES))
        answer = connection.recv(65536)
    assert (answer[:1], answer[2:4]) == (CLOSED, TOO_BIG)


def test_a_message_may_come_in_pieces() -> None:
    first = encode(Opcode.BINARY, b"12", last=False)
    more = encode(Opcode.CONT, b"3", last=False) * (MOST_PIECES - 2)
    with connected() as connection:
        connection.sendall(first + more + encode(Opcode.CONT, b"4"))
        assert connection.recv(65536)[2:] == str(MOST_PIECES + 1).encode()
