"""The server's listening socket."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from contextlib import suppress
from ipaddress import ip_address

from footplate.domain.errors import InvalidArgument, Violation

_OF_THE_PORT = {
    errno.EADDRINUSE: (
        "another program listens on this port; choose another {option}, or 0 for a free port"
    ),
    errno.EACCES: (
        "this user may not listen on this port; choose a {option} from 1024 on, "
        "or 0 for a free port"
    ),
}
"""The way out for each error of a port rather than of its host."""


def listen(host: str, port: int, last: Sequence[int] = (), setting: str = "port") -> socket.socket:
    """Returns a listening socket. Port 0 takes the first free one of ``last``, or any free port.

    Raises:
        InvalidArgument: the address can't be used; the message names host or setting, reason and
            remedy.
    """
    for before in () if port else last:
        with suppress(InvalidArgument):
            return _listen(host, before, setting)
    return _listen(host, port, setting)


def _listen(host: str, port: int, setting: str = "port") -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said to be TCP, asyncio sends each write at once (TCP_NODELAY): 40 ms less for an answer.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen()  # two may be bound to a port, but only one listens
    except OSError as error:
        listener.close()
        raise InvalidArgument.of((_refusal(host, port, setting, error),)) from None
    return listener


def _refusal(host: str, port: int, setting: str, error: OSError) -> Violation:
    if error.errno in _OF_THE_PORT:
        named = "--port" if setting == "port" else setting
        return Violation(setting, f"{port} given: {_OF_THE_PORT[error.errno].format(option=named)}")
    named, way_out = "host", "another --host, such as 127.0.0.1"
    if setting == "cluster_address":
        named, way_out = setting, "an address of this machine that the nodes reach"
    return Violation(
        named,
        (
            f"'{host}' given, which is not an address of this machine: {error.strerror}; choose "
            f"{way_out}"
        ),
    )


def url_of(listener: socket.socket) -> str:
    """Returns the URL for programs of this machine, by loopback for a wildcard address."""
    host, port = listener.getsockname()[:2]
    if ip_address(host).is_unspecified:
        host = "::1" if ":" in host else "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
