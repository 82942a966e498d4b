"""Who may be connected, and for how long without a request, over hundreds of real connections."""

from __future__ import annotations

import logging
import os
import resource
import select
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from urllib.parse import urlsplit

import pytest
from starlette.types import Receive, Scope, Send

from footplate.server.bounded_http import BoundedRequests
from footplate.server.door import Door
from footplate.server.serving import BURST, RepeatedRecords
from tests.support.deadlines import EVENT_S
from tests.support.http_server import serve

MOST = 32
GET = b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"
UPLOAD = b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n"
FIRST_PROGRAM, LAST_PROGRAM = 1000, 2000


class Hasty(BoundedRequests):
    head_s = body_s = 0.3


async def answer(_scope: Scope, receive: Receive, send: Send) -> None:
    """The end of the body is waited for."""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        if not message.get("more_body"):
            break
    await send(
        {"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]}
    )
    await send({"type": "http.response.body", "body": b"ok"})


async def never_end(_scope: Scope, receive: Receive, send: Send) -> None:
    """A stream that is open as long as its reader is there."""
    await receive()
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"line\n", "more_body": True})
    await receive()


@contextmanager
def connecting(url: str) -> Iterator[Callable[[], socket.socket]]:
    split = urlsplit(url)
    with ExitStack() as stack:

        def connect() -> socket.socket:
            address = split.hostname, split.port
            return stack.enter_context(socket.create_connection(address, EVENT_S))

        yield connect


def ask(connection: socket.socket, request: bytes = GET) -> bytes:
    """The answer, whose body is "ok" if it has one, or what came before the end."""
    said = b""
    try:
        connection.sendall(request)
        while b"\r\n\r\n" not in said or said.endswith(b"\r\n\r\n"):
            if not (more := connection.recv(65536)):
                break
            said += more
    except OSError:
        return said
    return said


def test_silent_connections_keep_nobody_out() -> None:
    with (
        serve(answer, requests=BoundedRequests, door=Door(MOST)) as url,
        connecting(url) as connect,
    ):
        silent = [connect() for _ in range(10 * MOST)]
        assert b"200 OK" in ask(connect())
        assert silent[0].recv(1) == b""


def test_a_caller_who_works_on_all_of_his_connections_gets_no_more() -> None:
    door = Door(MOST)
    with serve(never_end, requests=BoundedRequests, door=door) as url, connecting(url) as connect:
        streams = [connect() for _ in range(MOST * 7 // 8)]
        assert all(b"200 OK" in ask(stream) for stream in streams)
        assert ask(connect()) == b""
        streams[0].close()
        late = b""
        while not late:  # the server has yet to see the end of the other
            late = ask(connect())
        assert b"200 OK" in late


def test_a_connection_is_kept_between_requests_however_rare() -> None:
    with serve(answer, requests=Hasty, door=Door(MOST)) as url, connecting(url) as connect:
        kept, silent = connect(), connect()
        assert b"200 OK" in ask(kept)
        assert silent.recv(1) == b""  # its time is over, and so would that of the other be
        assert b"200 OK" in ask(kept)


@pytest.mark.parametrize(
    ("begun", "said"),
    [(GET[:-2], b"408 "), (UPLOAD + b"a", b"408 "), (GET + GET[:5], b"200 OK"), (b"", b"")],
)
def test_a_request_that_does_not_go_on_is_given_up(begun: bytes, said: bytes) -> None:
    with serve(answer, requests=Hasty) as url, connecting(url) as connect:
        connection, received = connect(), b""
        connection.sendall(begun)
        while part := connection.recv(65536):
            received += part
        assert said in received


def test_a_request_that_says_two_lengths_is_refused() -> None:
    """A reverse proxy before the server might see another end of it, and of what follows."""
    lengths = b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    with serve(answer, requests=BoundedRequests) as url, connecting(url) as connect:
        assert b"400 Bad Request" in ask(connect(), b"POST / HTTP/1.1\r\nHost: a\r\n" + lengths)


def test_the_server_never_blames_a_client_for_its_own_slowness() -> None:
    with serve(never_end, requests=Hasty) as url, connecting(url) as connect:
        connection, other = connect(), connect()
        connection.sendall(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody")
        assert b"200 OK" in connection.recv(65536)
        assert other.recv(1) == b""
        received = select.select([connection], [], [], 0)[0] and connection.recv(65536)
        assert received != b""


def test_programs_and_sites_have_shares_of_their_own() -> None:
    door = Door(1600, (FIRST_PROGRAM, LAST_PROGRAM))
    program, person = door._identify_user(FIRST_PROGRAM), door._identify_user(LAST_PROGRAM + 1)
    assert (program.most, person.most) == (100, 800)
    assert program.name != door._identify_user(LAST_PROGRAM).name
    here = ("192.0.2.1", 80)
    assert door.identify(("192.0.2.2", 1), here).name != door.identify(("192.0.2.3", 1), here).name
    one, other = ("2001:db8::1", 1, 0, 0), ("2001:db8::2", 1, 0, 0)
    assert door.identify(one, here) == door.identify(other, here)
    assert door.identify(("::ffff:192.0.2.2", 1), here) == door.identify(("192.0.2.2", 1), here)


def test_without_descriptors_connections_are_refused_and_the_log_stays_short(
    caplog: pytest.LogCaptureFixture,
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with serve(answer, requests=BoundedRequests, door=Door(MOST)) as url, ExitStack() as stack:
        split = urlsplit(url)
        clients = [stack.enter_context(socket.socket()) for _ in range(MOST)]
        taken: list[int] = []
        resource.setrlimit(resource.RLIMIT_NOFILE, (clients[-1].fileno() + 20, hard))
        try:
            with suppress(OSError):
                while True:
                    taken.append(os.dup(0))
            for client in clients:
                client.settimeout(EVENT_S)
                client.connect((split.hostname, split.port))
                assert ask(client) == b""
        finally:
            for descriptor in taken:
                os.close(descriptor)
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        with socket.create_connection((split.hostname, split.port), EVENT_S) as connection:
            assert b"200 OK" in ask(connection)
    assert len(caplog.records) <= MOST
    assert "raise the limit of open files" in caplog.text


def test_records_that_repeat_are_counted() -> None:
    now, due = [0.0], []
    shown = RepeatedRecords(60, lambda: now[0], lambda _after_s, call: due.append(call))
    reported: list[str] = []
    log = logging.getLogger("tests.repeated")

    def report(record: logging.LogRecord) -> bool:
        reported.append(record.getMessage())
        return False

    log.addFilter(report)

    def passes(text: str, number: int) -> bool:
        return shown.filter(
            logging.LogRecord(log.name, logging.ERROR, "", 1, f"{text}\n%d", (number,), None)
        )

    assert [passes("the same", n) for n in range(100)] == [True] * BURST + [False] * (100 - BURST)
    assert passes("another", 0)
    now[0] = 60
    due[0]()
    assert reported == [f"{100 - BURST} more in 60 s like: the same"]
    assert passes("the same", 0)
