"""Parses what a client asks of the proxy: the line and the headers of its first request."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass

from footplate.proxy.hosts import normalize

MAX_BYTES = 16 << 10
"""The limit of the line and all headers."""
END = b"\r\n\r\n"
TUNNEL = "CONNECT"
_HTTP_PORT = 80
_LINE = re.compile(rb"([A-Z]{1,32}) ([\x21-\x7e]{1,8192}) HTTP/1\.[01]")
_HEADER = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}):([\t\x20-\x7e\x80-\xff]*)")
_AUTHORITY = re.compile(r"(\[[0-9a-fA-F:.]{2,45}\]|[^:/?#@\[\]]+)(?::([0-9]{1,5}))?")
_URL = re.compile(r"http://([^/?#]*)(?:[/?#].*)?", re.IGNORECASE)


class BadHead(ValueError):
    """The head is invalid; the text says why."""


@dataclass(frozen=True)
class ProxyRequest:
    """A request to the proxy: CONNECT (``tunnel``), or one request for ``http://HOST:PORT/...``.

    ``host`` is normalized; ``user`` and ``password`` are from Basic authentication to the proxy.
    """

    host: str
    port: int
    tunnel: bool
    password: str | None = None
    user: str = ""


def parse_head(head: bytes) -> ProxyRequest:
    """Returns the request in ``head``, which ends with the empty line. Raises BadHead."""
    line, *lines = head.removesuffix(END).split(b"\r\n")
    found = _LINE.fullmatch(line)
    if found is None:
        raise BadHead("the first line is not a request of HTTP/1.1")
    headers = [_parse_header(each) for each in lines]
    method, target = found[1].decode(), found[2].decode()
    tunnel = method == TUNNEL
    host, port = _parse_authority(target, None) if tunnel else _parse_url(target)
    user, password = _credentials(headers)
    return ProxyRequest(host, port, tunnel, password, user)


def _parse_header(line: bytes) -> tuple[str, str]:
    found = _HEADER.fullmatch(line)
    if found is None:
        raise BadHead("a header line of the request is malformed")
    return found[1].decode().lower(), found[2].decode("latin-1").strip()


def _parse_url(target: str) -> tuple[str, int]:
    found = _URL.fullmatch(target)
    if found is None:
        raise BadHead(
            "this proxy accepts only CONNECT HOST:443 and http://HOST/...; the service itself "
            "answers at the address that `footplate status` shows"
        )
    return _parse_authority(found[1], _HTTP_PORT)


def _parse_authority(text: str, default: int | None) -> tuple[str, int]:
    found = _AUTHORITY.fullmatch(text)
    host = None if found is None else normalize(found[1])
    if found is None or host is None:
        raise BadHead(f"{text[:100]!r} is not HOST:PORT")
    port = int(found[2]) if found[2] else default
    if port is None or not 0 < port < 1 << 16:
        raise BadHead(f"{text[:100]!r} has no port from 1 to 65535")
    return host, port


def _credentials(headers: list[tuple[str, str]]) -> tuple[str, str | None]:
    given = [value for name, value in headers if name == "proxy-authorization"]
    if len(given) > 1:
        raise BadHead("the request has the header Proxy-Authorization twice")
    scheme, _, credentials = given[0].partition(" ") if given else ("", "", "")
    if scheme.lower() != "basic":
        return "", None
    try:
        text = b64decode(credentials.strip(), validate=True).decode()
    except ValueError:
        raise BadHead("the credentials of Proxy-Authorization are not base64") from None
    user, _, password = text.partition(":")
    return user, password
