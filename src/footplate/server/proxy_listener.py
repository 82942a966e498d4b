"""The proxy's port: tunnels for Google's hosts end in this server, all others are refused."""

from __future__ import annotations

import asyncio
import hmac
import logging
import socket
from collections.abc import Callable
from urllib.parse import unquote

from footplate.control.program_storage import PROXY_USER
from footplate.proxy.hosts import ServedHost, find_host
from footplate.proxy.refusals import ask_password, refuse_host, refuse_port, refuse_program
from footplate.proxy.request_head import ProxyRequest
from footplate.server.proxy_connection import Admission, ProxyConnection, Tunnels

MAX_REFUSED = 1000
"""Of hosts that were refused, that are remembered."""
KEYED_ONLY = (
    "the program's key allows only Cloud Storage and Cloud Logging, with the method CONNECT"
)
_log = logging.getLogger(__name__)


class ProxyListener:
    """The listener of the proxy. ``refused`` collects the hosts that it refused.

    ``token`` is the server's. ``check_key`` raises a ServiceError if the key isn't that of a
    running program.
    """

    def __init__(self, token: str | None, check_key: Callable[[str], object]) -> None:
        self.refused: dict[str, None] = {}
        self._token = token
        self._check_key = check_key
        self._server: asyncio.Server | None = None

    async def start(self, listener: socket.socket, tunnels: Tunnels) -> None:
        def connected() -> ProxyConnection:
            return ProxyConnection(tunnels, self.answer, self._admit)

        self._server = await asyncio.get_running_loop().create_server(connected, sock=listener)

    def stop(self) -> None:
        """Stops accepting connections."""
        if self._server is not None:
            self._server.close()

    def answer(self, request: ProxyRequest) -> ServedHost | bytes:
        """Returns the host to serve, or the bytes to send instead."""
        program = key_of(request) is not None
        if self._token and not (program or _is_password(request.password or "", self._token)):
            return ask_password()
        host = find_host(request.host)
        if host is None or host.refused:
            address = f"{request.host}:{request.port}"
            if address not in self.refused:
                _log.info("the proxy refuses %s", address)
            if len(self.refused) < MAX_REFUSED:
                self.refused[address] = None
        if host is None:
            return refuse_host(request)
        if program and not (request.tunnel and (host.has_buckets or host.has_logs)):
            return refuse_program(KEYED_ONLY)
        if request.port != (443 if request.tunnel else 80):
            return refuse_port(request)
        return host

    def _admit(self, request: ProxyRequest) -> Admission:
        """Admits clients with the proxy's password, which is the token, or a program's key.
        Raises a ServiceError.
        """
        key = key_of(request)
        if key is not None:
            self._check_key(key)
        return Admission(f"Bearer {self._token}" if self._token else None, key)


def key_of(request: ProxyRequest) -> str | None:
    """Returns the key that a job's program sends; None for other clients."""
    return request.password or "" if request.user == PROXY_USER else None


def _is_password(given: str, token: str) -> bool:
    """Returns whether ``given`` is the token, perhaps percent-encoded as in the proxy's address."""
    return any(
        hmac.compare_digest(each.encode(), token.encode()) for each in (given, unquote(given))
    )
