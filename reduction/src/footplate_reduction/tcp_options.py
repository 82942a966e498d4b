"""TCP options that detect a dead peer."""

from __future__ import annotations

import errno
import socket

_KEEPALIVE = ("TCP_KEEPIDLE", "TCP_KEEPINTVL")
SILENCE = frozenset(
    {errno.ETIMEDOUT, errno.EHOSTUNREACH, errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTDOWN}
)
"""Errors of a connection whose other end said nothing: a cut link, or a host without power."""


def prepare(connection: socket.socket, timeout_s: float) -> None:
    """Makes the connection fail with ETIMEDOUT if data or probes go unanswered for ``timeout_s``.

    An idle connection is probed each second. A stopped process still counts as alive, since its
    kernel answers the probes. A process that reads nothing for ``timeout_s`` while more data waits
    than its socket holds counts as lost (Linux >= 5.11).
    """
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for option in _KEEPALIVE:  # not all systems have all of them
        if hasattr(socket, option):
            connection.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), 1)
    if hasattr(socket, "TCP_KEEPCNT"):  # counts only where there is no user timeout
        probes = max(1, min(127, round(timeout_s)))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPCNT, probes)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        unanswered_ms = max(1, round(timeout_s * 1000))
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, unanswered_ms)


def address(connection: socket.socket, *, peer: bool) -> str:
    """Returns ``HOST:PORT`` of the connection's peer or own end; ``?`` if it is closed."""
    try:
        name = connection.getpeername() if peer else connection.getsockname()
    except OSError:  # a name is missing
        return "?"
    return written(name)


def written(name: object) -> str:
    """Returns a socket's name as ``HOST:PORT``; hosts of IPv6 in brackets."""
    if not isinstance(name, tuple):
        return "?"
    host, port = name[:2]
    if host.startswith("::ffff:"):
        host = host[len("::ffff:") :]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
