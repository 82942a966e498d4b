"""The supervisor's own WebSocket, against a server of the library ``websockets``."""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.server import serve

from footplate.replica.http_client import ServerUnavailable
from footplate.replica.shell.websocket import WebSocket, check_consent
from footplate.replica.shell.websocket_frames import BINARY, TEXT
from tests.support.deadlines import EVENT_S

if TYPE_CHECKING:
    from websockets.sync.server import ServerConnection

    Serve = Callable[[Callable[[ServerConnection], None]], Path]

PATH = "/replica/v1/shells/abc"
KEY, ACCEPT = "dGhlIHNhbXBsZSBub25jZQ==", "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="
"""From RFC 6455, section 1.3."""


@pytest.fixture
def serving(tmp_path: Path) -> Iterator[Serve]:
    """Runs a server with a handler; gives the file that leads there."""
    servers = []

    def start(handler: Callable[[ServerConnection], None]) -> Path:
        server = serve(handler, "127.0.0.1", 0, compression=None)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        port = server.socket.getsockname()[1]
        return announce(tmp_path, port)

    yield start
    for server in servers:
        server.shutdown()


def announce(directory: Path, port: int) -> Path:
    file = directory / "server.json"
    file.write_text(json.dumps({"url": f"http://127.0.0.1:{port}"}))
    return file


def receive(link: WebSocket, count: int) -> list[tuple[int, bytes]]:
    found = link.receive()  # what came with the server's consent waits for no event
    while len(found) < count and link.open:
        poller = select.poll()
        poller.register(link, link.events(reading=True))
        assert poller.poll(30_000), "nothing came"
        link.flush()
        found += link.receive()
    return found


def test_both_sides_hear_each_other_and_the_token_goes_in_a_header(serving: Serve) -> None:
    heard = []

    def echo(connection: ServerConnection) -> None:
        request = connection.request
        assert request is not None
        heard.append((request.path, request.headers["Authorization"]))
        connection.ping(b"there?").wait(EVENT_S)  # a pong must come before
        for message in connection:
            connection.send(message)

    link = WebSocket.connect(str(serving(echo)), "a.b.c", PATH)
    link.send(TEXT, b'{"exit": 0}')
    link.send(BINARY, bytes(200_000))
    assert receive(link, 2) == [(TEXT, b'{"exit": 0}'), (BINARY, bytes(200_000))]
    assert heard == [(PATH, "Bearer a.b.c")]
    link.close()


def test_a_goodbye_is_heard_and_answered(serving: Serve) -> None:
    codes = []

    def leave(connection: ServerConnection) -> None:
        connection.send("last words")
        connection.close(1001, "going")
        assert connection.close_code is not None
        codes.append(connection.close_code)

    link = WebSocket.connect(str(serving(leave)), "t", PATH)
    assert receive(link, 2) == [(TEXT, b"last words")]
    assert not link.open
    assert link.flushed
    link.close()


def test_ones_own_goodbye_comes_after_all_that_was_sent(serving: Serve) -> None:
    done = threading.Event()
    got: list[str | bytes] = []

    def listen(connection: ServerConnection) -> None:
        try:
            while True:
                got.append(connection.recv())
        except ConnectionClosed as error:
            got.append(str(error.rcvd.code if error.rcvd else None))
        done.set()

    link = WebSocket.connect(str(serving(listen)), "t", PATH)
    link.send(BINARY, b"x")
    link.say_goodbye()
    link.finish()
    assert done.wait(EVENT_S)
    assert got == [b"x", "1000"]
    link.close()


def test_what_the_other_side_does_not_take_is_noticed(serving: Serve) -> None:
    leave = threading.Event()

    def wait(connection: ServerConnection) -> None:
        leave.wait(EVENT_S)
        for _ in connection:  # until it is closed, or the server waits for that
            pass

    link = WebSocket.connect(str(serving(wait)), "t", PATH)
    for _ in range(1000):
        if link.congested:
            break
        link.send(BINARY, bytes(65536))
    assert link.congested
    leave.set()
    link.close()


@pytest.mark.parametrize("answer", [b"HTTP/1.1 403 Forbidden\r\n\r\n", b"what?\r\n\r\n", b""])
def test_a_server_that_does_not_want_to_is_away(tmp_path: Path, answer: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        file = announce(tmp_path, listener.getsockname()[1])

        def refuse() -> None:
            connection, _ = listener.accept()
            connection.recv(65536)
            connection.sendall(answer)
            connection.close()

        thread = threading.Thread(target=refuse)
        thread.start()
        with pytest.raises(ServerUnavailable, match=PATH):
            WebSocket.connect(str(file), "t", PATH)
        thread.join()


def test_the_consent_is_that_of_the_standard() -> None:
    check_consent(101, ACCEPT, KEY)
