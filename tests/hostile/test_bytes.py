"""Bytes that are no HTTP, or hardly: a real server answers or hangs up, and goes on serving."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from urllib.parse import urlsplit

import httpx
import pytest

from footplate.testing.service import RunningService, running_service
from tests.support.deadlines import EVENT_S

JOBS = b"/v1/projects/demo/jobs"
JSON = b"Host: 127.0.0.1\r\nContent-Type: application/json\r\n"
POST = b"POST " + JOBS + b" HTTP/1.1\r\n" + JSON
BYTES: dict[str, bytes] = {
    "nothing": b"",
    "no HTTP": b"\x16\x03\x01\x02\x00\x01\x00" + b"\xff" * 500 + b"\r\n\r\n",
    "no version": b"GET /healthz\r\n\r\n",
    "a version of its own": b"GET /healthz HTTP/9.9\r\nHost: localhost\r\n\r\n",
    "no host": b"GET /healthz HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    "a method of its own": b"STEAL /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a path of 1 MB": b"GET /" + b"a" * (1 << 20) + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a path that is none": b"GET \xff\xfe%zz%00/../.. HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "a header of 1 MB": b"GET /healthz HTTP/1.1\r\nX: " + b"a" * (1 << 20) + b"\r\n\r\n",
    "100,000 headers": b"GET /healthz HTTP/1.1\r\n" + b"X: y\r\n" * 100_000 + b"\r\n",
    "a header without a name": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n",
    "a folded header": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
    "a length that is negative": POST + b"Content-Length: -1\r\n\r\n{}",
    "two lengths": POST
    + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "a length of 10**30": POST
    + b"Content-Length: 1" + b"0" * 30 + b"\r\n\r\n{}",
    "a length that is too long": POST + b"Content-Length: 99\r\n\r\n{}",
    "a length and chunks": POST
    + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    "a chunk of no size": POST
    + b"Transfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n",
    "a chunk that is negative": POST
    + b"Transfer-Encoding: chunked\r\n\r\n-2\r\n{}\r\n0\r\n\r\n",
    "a chunk of 2**64": POST
    + b"Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\n{}\r\n",
    "chunks of one byte": POST
    + b"Transfer-Encoding: chunked\r\n\r\n" + b"1\r\n \r\n" * 20_000 + b"0\r\n\r\n",
    "a coding that there is not": POST
    + b"Transfer-Encoding: gzip\r\n\r\n{}",
    "a promise to go on": POST
    + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    "another protocol": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\n"
    b"Upgrade: h2c\r\n\r\n",
    "HTTP/2 at once": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "a web socket where there is none": b"GET " + JOBS + b" HTTP/1.1\r\nHost: localhost\r\n"
    b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
    "a thousand requests at once": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000,
}  # fmt: skip


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    with running_service(tmp_path_factory.mktemp("bytes") / "data") as running:
        yield running


@pytest.mark.parametrize("what", BYTES)
def test_the_server_goes_on(service: RunningService, what: str) -> None:
    answer = converse(service.url, BYTES[what])
    assert answer.startswith(b"HTTP/1.") or not answer, answer[:200]
    assert not answer.startswith(b"HTTP/1.1 5"), answer[:500]
    assert httpx.get(f"{service.url}/healthz", trust_env=False).status_code == 200
    said = service.log.read_text()
    assert "Traceback" not in said, said


ENDLESS: dict[str, tuple[bytes, bytes]] = {
    "a path": (b"GET /", b"a"),
    "a header": (b"GET /healthz HTTP/1.1\r\nX: ", b"a"),
    "headers": (b"GET /healthz HTTP/1.1\r\n", b"X: y\r\n"),
    "trailers": (POST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n", b"X: y\r\n"),
    "word of a chunk": (POST + b"Transfer-Encoding: chunked\r\n\r\n2;x=", b"a"),
}
MUCH_BYTES = 32 << 20


@pytest.mark.parametrize("what", ENDLESS)
def test_a_head_without_an_end_is_cut_off(service: RunningService, what: str) -> None:
    begin, piece = ENDLESS[what]
    with pytest.raises(ConnectionError):
        send(service.url, begin + piece * (MUCH_BYTES // len(piece)))
    assert "Traceback" not in service.log.read_text()


def send(url: str, content: bytes) -> None:
    """Raises ConnectionError: the server hangs up before it has read all."""
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), timeout=EVENT_S) as connection:
        connection.sendall(content)


def converse(url: str, content: bytes) -> bytes:
    """All that the server says to these bytes and no more. Raises TimeoutError: it hangs."""
    place = urlsplit(url)
    said = b""
    with socket.create_connection((place.hostname, place.port), timeout=EVENT_S) as connection:
        try:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                said += part
        except TimeoutError:
            raise
        except OSError:
            return said  # it hung up: that is an answer, too
    return said
