"""Responses are read alike however the network cuts them, and garbage is recognised."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.http1 import Answer, BadResponse, Client, Response, format_request


def read(pieces: list[bytes], *, close: bool = False) -> tuple[Response, bytes]:
    response = Response()
    body = b"".join(response.feed(piece) for piece in pieces if piece)
    if close:
        response.feed(b"")
    return response, body


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted({place % len(data) for place in places}), len(data)]
    return [data[a:b] for a, b in pairwise(edges)]


@given(body=st.binary(max_size=300), places=st.lists(st.integers(0, 1000)))
def test_a_body_with_a_length_survives_any_cut(body: bytes, places: list[int]) -> None:
    data = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    response, read_body = read(cut(data, places))
    assert (response.status, response.done, response.reusable) == (200, True, True)
    assert read_body == body


@given(chunks=st.lists(st.binary(min_size=1, max_size=40)), places=st.lists(st.integers(0, 1000)))
def test_chunks_survive_any_cut(chunks: list[bytes], places: list[int]) -> None:
    data = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    data += b"".join(b"%x;x=1\r\n%s\r\n" % (len(chunk), chunk) for chunk in chunks)
    response, body = read(cut(data + b"0\r\nTrailer: x\r\n\r\n", places))
    assert (response.status, response.done, response.reusable) == (200, True, True)
    assert body == b"".join(chunks)


def test_interim_responses_are_skipped() -> None:
    response, body = read([b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n"])
    assert (response.status, response.done, body) == (204, True, b"")


def test_a_body_without_a_length_ends_with_the_connection() -> None:
    response, body = read([b"HTTP/1.1 200 OK\r\n\r\nab", b"c"], close=True)
    assert (response.done, response.reusable, body) == (True, False, b"abc")


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
    ],
)
def test_a_connection_that_will_be_closed_is_not_used_again(head: bytes) -> None:
    assert not read([head])[0].reusable


def test_bytes_after_the_response_end_the_connection() -> None:
    assert not read([b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab"])[0].reusable


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
    ],
)
def test_a_connection_closed_in_the_middle_is_an_error(data: bytes) -> None:
    with pytest.raises(BadResponse):
        read([data], close=True)


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 2000,
        b"HTTP/1.1 200 OK\r\n" + b"x" * 70000,
    ],
)
def test_garbage_is_an_error(data: bytes) -> None:
    with pytest.raises(BadResponse):
        read([data])


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_else(data: bytes) -> None:
    response = Response()
    try:
        response.gather(data)
    except BadResponse:
        return


def test_an_answer_to_head_has_no_body() -> None:
    response = Response(headless=True)
    assert response.gather(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")
    assert response.reusable


def test_what_follows_a_switch_of_protocols_has_no_end() -> None:
    head = b"HTTP/1.1 101 Switching\r\nContent-Length: 0\r\nUpgrade: TCP\r\n\r\n"
    response, body = read([head + b"ab", b"c"])
    assert (response.status, response.done, body) == (101, False, b"abc")
    assert response.field("upgrade") == "TCP"


def test_a_body_over_the_limit_is_an_error() -> None:
    response = Response(4)
    response.feed(b"HTTP/1.1 200 OK\r\n\r\nfour")
    with pytest.raises(BadResponse, match="too long"):
        response.feed(b"!")


def test_a_request_carries_token_and_length() -> None:
    request = format_request("POST", "/x", "h:1", "secret", b"{}")
    assert request.startswith(b"POST /x HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer secret\r\n")
    assert request.endswith(b"Content-Length: 2\r\n\r\n{}")


@pytest.mark.parametrize("words", [("/x\r\nHost: y", "A: b"), ("/x", "A: b\nC: d")])
def test_a_line_break_begins_no_other_request(words: tuple[str, str]) -> None:
    with pytest.raises(ValueError, match="a line break"):
        format_request("GET", words[0], "h:1", "", None, words[1])


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


class Pair:
    """A client whose connections are each answered once; ``first``: what the first one gets."""

    def __init__(self) -> None:
        self.first = OK
        self.theirs: list[socket.socket] = []
        self.client = Client(self._connect, lambda what, error: OSError(f"{what}: {error}"))

    def _connect(self) -> tuple[socket.socket, str]:
        ours, theirs = socket.socketpair()
        ours.settimeout(5)
        theirs.sendall(OK if self.theirs else self.first)
        self.theirs.append(theirs)
        return ours, "host"


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.client.close()
    for each in made.theirs:
        each.close()


def begin(pair: Pair, answer: bytes = OK) -> Answer:
    pair.first = answer
    return pair.client.request("GET", "/first")


def test_a_request_on_a_connection_that_was_closed_is_sent_again(pair: Pair) -> None:
    assert begin(pair).read() == b"ok"
    pair.theirs[0].close()
    assert pair.client.request("POST", "/x", b"{}").read() == b"ok"
    assert b"POST /x" in pair.theirs[1].recv(1000)


def test_a_body_in_pieces_is_sent_once(pair: Pair) -> None:
    begin(pair).read()
    pair.theirs[0].close()
    with pytest.raises(OSError, match="PUT /x"):
        pair.client.request("PUT", "/x", iter([b"a", b"b"]), "Content-Length: 2")
    assert pair.client.request("PUT", "/x", iter([b"a", b"b"]), "Content-Length: 2").read()
    assert pair.theirs[1].recv(1000).endswith(b"Content-Length: 2\r\n\r\nab")


def test_what_pieces_raise_passes_and_ends_the_connection(pair: Pair) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"a"
        raise LookupError

    begin(pair).read()
    with pytest.raises(LookupError):
        pair.client.request("PUT", "/x", pieces(), "Content-Length: 2")
    assert pair.client.request("GET", "/y").read() == b"ok"
    assert len(pair.theirs) == 2


def test_an_answer_that_was_not_read_is_not_taken_for_the_next(pair: Pair) -> None:
    begin(pair, OK[:-1])
    assert pair.client.request("GET", "/y").read() == b"ok"
    assert len(pair.theirs) == 2


def test_an_answer_that_breaks_off_is_an_error_of_the_client_s(pair: Pair) -> None:
    answer = begin(pair, OK[:-1])
    pair.theirs[0].close()
    with pytest.raises(OSError, match="GET /first: "):
        list(answer.pieces())


def test_a_connection_becomes_a_stream(pair: Pair) -> None:
    answer = begin(pair, b"HTTP/1.1 101 Switching Protocols\r\n\r\nearly")
    connected, early = pair.client.detach(answer)
    with connected:
        pair.theirs[0].sendall(b"late")
        assert (early, connected.recv(10)) == (b"early", b"late")
