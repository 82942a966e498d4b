"""Blocks every socket connection and name lookup to a Google host in this process.

Audit hooks see what the socket module does for every caller (requests, urllib3, httplib2,
httpx, aiohttp), and can't be taken out again.
"""

from __future__ import annotations

import sys

from .google_hosts import check_host

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def install(proxy: str = "") -> None:
    """``proxy``: the ``HOST:PORT`` of the service's own, which decides about tunnels itself."""

    checks: dict[str, Callable[[tuple[Any, ...]], None]] = {
        "socket.getaddrinfo": lambda arguments: _check(arguments[0]),
        "socket.gethostbyname": lambda arguments: _check(arguments[0]),
        "socket.connect": lambda arguments: _check_address(arguments[1]),
        "socket.sendto": lambda arguments: _check_address(arguments[1]),
        "http.client.connect": lambda arguments: _check_tunnel(arguments, proxy),
    }

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        check = checks.get(event)
        if check is not None:
            check(arguments)

    sys.addaudithook(hook)


def _check(host: object) -> None:
    if isinstance(host, (bytes, bytearray)):
        host = host.decode("ascii", "replace")
    if isinstance(host, str):
        check_host(host)


def _check_address(address: object) -> None:
    if isinstance(address, tuple) and address:
        _check(address[0])


def _check_tunnel(arguments: tuple[Any, ...], proxy: str) -> None:
    """Through a proxy the name is that of the proxy; where it leads to is in the tunnel."""
    connection, host, port = arguments
    if not proxy or str(host) + ":" + str(port) != proxy:
        _check(getattr(connection, "_tunnel_host", None))
