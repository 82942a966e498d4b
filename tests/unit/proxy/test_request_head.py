"""What a client asks of the proxy."""

from __future__ import annotations

from base64 import b64encode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.proxy.hosts import normalize
from footplate.proxy.request_head import BadHead, ProxyRequest, parse_head


def head(line: str, *headers: str) -> bytes:
    return "".join(f"{each}\r\n" for each in (line, *headers, "")).encode("latin-1")


def basic(text: str) -> str:
    return f"Proxy-Authorization: Basic {b64encode(text.encode()).decode()}"


@pytest.mark.parametrize(
    ("line", "host", "port", "tunnel"),
    [
        ("CONNECT ml.googleapis.com:443 HTTP/1.1", "ml.googleapis.com", 443, True),
        ("CONNECT ML.googleapis.com.:443 HTTP/1.0", "ml.googleapis.com", 443, True),
        ("CONNECT [::1]:65535 HTTP/1.1", "::1", 65535, True),
        ("GET http://metadata.google.internal/x HTTP/1.1", "metadata.google.internal", 80, False),
        ("POST HTTP://a:8080?x=http://b/ HTTP/1.1", "a", 8080, False),
        ("GET http://a#@b HTTP/1.1", "a", 80, False),
    ],
)
def test_where_it_leads(line: str, host: str, port: int, *, tunnel: bool) -> None:
    assert parse_head(head(line, "Host: other")) == ProxyRequest(host, port, tunnel)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "CONNECT",
        "CONNECT  a:443 HTTP/1.1",
        "CONNECT a:443 HTTP/2.0",
        "CONNECT a:443 HTTP/1.1 ",
        "CONNECT a HTTP/1.1",
        "CONNECT a:0 HTTP/1.1",
        "CONNECT a:65536 HTTP/1.1",
        "CONNECT a:+1 HTTP/1.1",
        "CONNECT a:٤ HTTP/1.1".encode().decode("latin-1"),
        "CONNECT :443 HTTP/1.1",
        "CONNECT a@b:443 HTTP/1.1",
        "CONNECT http://a:443 HTTP/1.1",
        "connect a:443 HTTP/1.1",
        "GET / HTTP/1.1",
        "GET https://a/ HTTP/1.1",
        "GET http:///x HTTP/1.1",
        "GET http://user@a/ HTTP/1.1",
        "GET http://[::1/ HTTP/1.1",
    ],
)
def test_what_leads_nowhere_is_refused(line: str) -> None:
    with pytest.raises(BadHead):
        parse_head(head(line, "Host: a"))


@pytest.mark.parametrize("line", ["no colon", " folded: x", "a b: c", "a: \0", "a: \n", ": x"])
def test_malformed_headers_are_refused(line: str) -> None:
    with pytest.raises(BadHead, match="header"):
        parse_head(head("CONNECT a:443 HTTP/1.1", line))


def test_the_password_of_the_proxy() -> None:
    line = "CONNECT a:443 HTTP/1.1"
    assert parse_head(head(line, basic("footplate:s:e"))).password == "s:e"
    assert parse_head(head(line, basic("program:key"))).user == "program"
    assert parse_head(head(line, basic("nobody"))).password == ""
    assert parse_head(head(line, "Proxy-Authorization: Bearer x")).password is None


def test_bad_passwords_are_refused() -> None:
    line = "CONNECT a:443 HTTP/1.1"
    for lines in (["Proxy-Authorization: Basic ???"], [basic("a:b"), basic("a:c")]):
        with pytest.raises(BadHead):
            parse_head(head(line, *lines))


@given(st.binary(max_size=300))
def test_any_bytes_are_a_request_or_refused(content: bytes) -> None:
    for text in (content, b"CONNECT " + content, b"CONNECT a:1 HTTP/1.1\r\n" + content):
        try:
            request = parse_head(text + b"\r\n\r\n")
        except BadHead:
            continue
        assert normalize(request.host) == request.host
        assert 0 < request.port < 1 << 16
