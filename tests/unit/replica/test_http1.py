"""Responses are read alike however the network cuts them, and garbage is recognised."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.replica.http1 import BadResponse, Response, format_request


def read(pieces: list[bytes], *, close: bool = False) -> tuple[Response, bytes]:
    response = Response()
    body = b"".join(response.feed(piece) for piece in pieces)
    if close:
        response.end()
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
        response.feed(data)
    except BadResponse:
        return


def test_a_request_carries_token_and_length() -> None:
    request = format_request("POST", "/x", "h:1", "secret", b"{}")
    assert request.startswith(b"POST /x HTTP/1.1\r\nHost: h:1\r\nAuthorization: Bearer secret\r\n")
    assert request.endswith(b"Content-Length: 2\r\n\r\n{}")
