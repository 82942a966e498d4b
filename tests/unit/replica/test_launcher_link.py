"""The launcher's requests to its server, and the bytes that it passes on."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest

from footplate.replica.http_client import Refused, ServerUnavailable, split_url
from footplate.replica.launcher.background_call import BackgroundCall, NoThread, Wake
from footplate.replica.launcher.relay import Relay
from footplate.replica.launcher.server_link import Post, ServerLink
from tests.support.certificates import sign_own
from tests.support.local_backend import wait_until

LIMIT_S = 60
HELD = b""
"""No answer: the connection stays open."""
CLOSED = b"closed"
OK = b'HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n{"news": "x"}'

Serve = Callable[[socket.socket], object]


class Server:
    """Serves each connection by the next of ``serves``, in a thread; counts them."""

    def __init__(self, *serves: Serve, tls: ssl.SSLContext | None = None) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._tls = tls
        self._connections: list[socket.socket] = []
        self.accepted = 0
        self._thread = threading.Thread(target=self._accept, args=(serves,), daemon=True)
        self._thread.start()

    @property
    def url(self) -> str:
        name = "https://localhost" if self._tls else "http://127.0.0.1"
        return f"{name}:{self._listener.getsockname()[1]}"

    def _accept(self, serves: tuple[Serve, ...]) -> None:
        for serve in serves:
            plain, _ = self._listener.accept()
            self.accepted += 1
            connection = self._tls.wrap_socket(plain, server_side=True) if self._tls else plain
            self._connections.append(connection)
            serve(connection)

    def close(self) -> None:
        self._thread.join(LIMIT_S)
        for connection in self._connections:
            connection.close()
        self._listener.close()


def answers(*each: bytes) -> Serve:
    """Gives these answers to the requests on one connection."""

    def serve(connection: socket.socket) -> None:
        for answer in each:
            if answer != CLOSED:
                request = b""
                while not request.endswith(b"}"):
                    request += connection.recv(65536)
                connection.sendall(answer)
            else:
                connection.close()

    return serve


@contextmanager
def link_to(*serves: Serve) -> Iterator[tuple[ServerLink, Server]]:
    with closing(Server(*serves)) as server, closing(ServerLink(server.url, "", "t")) as link:
        yield link, server


def post(link: ServerLink, timeout_s: float = LIMIT_S) -> dict[str, object]:
    return link.post(Post("/path", {"state": "IDLE"}, timeout_s))


def test_requests_share_a_connection() -> None:
    with link_to(answers(OK, OK)) as (link, server):
        assert [post(link), post(link)] == [{"news": "x"}] * 2
        assert link.own_address == "127.0.0.1"
        assert server.accepted == 1


def test_a_request_on_a_connection_that_the_server_closed_is_sent_again() -> None:
    with link_to(answers(OK, CLOSED), answers(OK)) as (link, server):
        assert [post(link), post(link)] == [{"news": "x"}] * 2
        assert server.accepted == 2


def test_errors_say_whether_to_ask_again() -> None:
    head = b"\r\nContent-Length: 4\r\n\r\nsaid"
    refused, failed = b"HTTP/1.1 403 No" + head, b"HTTP/1.1 500 No" + head
    with link_to(answers(refused), answers(failed), answers(CLOSED)) as (link, _):
        with pytest.raises(Refused, match="said") as caught:
            post(link)
        assert caught.value.status == 403
        with pytest.raises(ServerUnavailable, match="HTTP 500"):
            post(link)
        with pytest.raises(ServerUnavailable):
            post(link)
    with pytest.raises(ServerUnavailable):  # nobody listens
        post(link)


def test_a_request_that_takes_too_long_fails() -> None:
    with link_to(answers(HELD)) as (link, _), pytest.raises(ServerUnavailable):
        post(link, timeout_s=0.01)


def test_a_held_request_can_be_cancelled() -> None:
    asked = threading.Event()

    def hold(connection: socket.socket) -> None:
        answers(HELD)(connection)
        asked.set()

    wake = Wake()
    with link_to(hold, answers(OK)) as (link, server):
        held = Post("/path", {}, LIMIT_S)
        call = BackgroundCall(lambda: link.post(held), wake)
        assert asked.wait(LIMIT_S)
        held.cancel()
        while not call.done:
            wake.wait(LIMIT_S)
        with pytest.raises(ServerUnavailable):
            call.result()
        assert post(link) == {"news": "x"}
        assert server.accepted == 2


def test_a_request_that_was_cancelled_is_not_sent() -> None:
    cancelled = Post("/path", {}, LIMIT_S)
    cancelled.cancel()
    accepts = link_to(lambda connection: connection.recv(1))
    with accepts as (link, _), pytest.raises(ServerUnavailable, match="cancelled"):
        link.post(cancelled)


@pytest.mark.parametrize(
    ("url", "parts"),
    [
        ("http://127.0.0.1:7/x", ("http", "127.0.0.1", 7)),
        ("https://[::1]:7", ("https", "::1", 7)),
        ("https://[::1]", ("https", "::1", 443)),
        ("http://host.example", ("http", "host.example", 80)),
    ],
)
def test_a_server_may_have_any_address(url: str, parts: tuple[str, str, int]) -> None:
    assert split_url(url) == parts


@pytest.fixture(params=["plain", "tls"])
def make_server(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Callable[..., tuple[int, Server]]]:
    """Returns a server and the port at which a node's programs reach it."""
    with ExitStack() as stack:

        def make(*serves: Serve) -> tuple[int, Server]:
            tls, authority = None, ""
            if request.param == "tls":
                certificate = sign_own(tmp_path)
                authority = certificate.read_text()
                tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                tls.load_cert_chain(certificate, tmp_path / "tls.key")
            server = stack.enter_context(closing(Server(*serves, tls=tls)))
            link = ServerLink(server.url, authority, "t")
            relay = stack.enter_context(closing(Relay(link)))
            return relay.open(), server

        yield make


def connect(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), LIMIT_S)


@contextmanager
def no_threads(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fail(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", fail)
        yield


def receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size and (piece := connection.recv(65536)):
        data += piece
    return data


def test_bytes_pass_both_ways_at_once(make_server: Callable[..., tuple[int, Server]]) -> None:
    content = os.urandom(4 << 20)

    def echo(connection: socket.socket) -> None:
        while piece := connection.recv(65536):
            connection.sendall(piece)

    port, _ = make_server(echo)
    with connect(port) as near, ThreadPoolExecutor(1) as pool:
        received = pool.submit(receive, near, len(content))
        near.sendall(content)
        assert received.result(LIMIT_S) == content


def test_the_end_of_the_server_is_that_of_the_node(
    make_server: Callable[..., tuple[int, Server]],
) -> None:
    def say(connection: socket.socket) -> None:
        connection.sendall(b"last words")
        connection.close()

    port, _ = make_server(say)
    with connect(port) as near:
        assert receive(near, 1 << 20) == b"last words"


def test_the_end_of_the_node_is_heard_by_the_server(
    make_server: Callable[..., tuple[int, Server]],
) -> None:
    heard: list[bytes] = []
    port, server = make_server(lambda far: heard.append(receive(far, 1 << 20)))
    with connect(port) as near:
        near.sendall(b"last words")
    server.close()
    assert heard == [b"last words"]


def test_a_node_without_a_server_hears_the_end() -> None:
    link = ServerLink("http://127.0.0.1:1", "", "t")
    with closing(Relay(link)) as relay, connect(relay.open()) as near:
        assert near.recv(1) == b""


def test_connections_pass_again_when_there_are_threads_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with link_to(answers(OK)) as (link, _), closing(Relay(link)) as relay:
        port = relay.open()
        with no_threads(monkeypatch), connect(port) as near:
            assert near.recv(1) == b""
        with connect(port) as near:
            near.sendall(b"{}")
            assert receive(near, len(OK)) == OK


class LoggedLink(ServerLink):
    """Its connections end at sockets of this process."""

    def __init__(self) -> None:
        super().__init__("http://127.0.0.1:1", "", "t")
        self.happened: list[str] = []
        self.ends: list[socket.socket] = []

    def join(self) -> socket.socket:
        self.happened.append("joined")
        far, end = socket.socketpair()
        self.ends.append(end)
        return far

    def end(self) -> None:
        self.happened.append("ended")
        self.ends.pop(0).close()


def test_connections_beyond_the_limit_wait_until_others_end() -> None:
    link = LoggedLink()
    with closing(Relay(link, most=1)) as relay:
        port = relay.open()
        with connect(port) as first, connect(port) as second:
            second.sendall(b"world")
            wait_until(lambda: bool(link.ends))
            for _ in range(10):  # long enough for the second one, if that didn't wait
                first.sendall(b"hello")
                assert receive(link.ends[0], 5) == b"hello"
            link.end()
            wait_until(lambda: bool(link.ends))
            assert receive(link.ends[0], 5) == b"world"
            link.end()
            assert [receive(each, 1) for each in (first, second)] == [b"", b""]
    assert link.happened == ["joined", "ended", "joined", "ended"]


def test_a_call_without_a_thread_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    with no_threads(monkeypatch):
        call = BackgroundCall(lambda: "answer", Wake())
    assert call.done
    with pytest.raises(NoThread, match="can't start new thread"):
        call.result()


def test_a_supervisor_gets_the_connection_of_the_launcher_that_has_just_asked() -> None:
    def serve(connection: socket.socket) -> None:
        answers(OK)(connection)
        connection.sendall(connection.recv(5))

    with link_to(serve, answers(OK)) as (link, server), closing(Relay(link)) as relay:
        post(link)
        with connect(relay.open()) as near:
            near.sendall(b"hello")
            assert receive(near, 5) == b"hello"
            assert server.accepted == 1
            post(link)  # on one of its own
            assert server.accepted == 2
