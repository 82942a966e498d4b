"""The proxy for programs on other machines, which reach it at the port of launchers.

Their first request there is CONNECT, as at the proxy's own port. Each tunnel shows a key.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from footplate.control.program_api import CALLER_USER
from footplate.domain.errors import NotFound, PermissionDenied
from footplate.proxy.hosts import ServedHost, find_host
from footplate.proxy.refusals import refuse_host, refuse_port, refuse_program
from footplate.proxy.request_head import ProxyRequest
from footplate.server.bounded_http import BoundedRequests
from footplate.server.proxy_connection import Admission, ProxyConnection, Tunnels
from footplate.server.proxy_listener import KEYED_ONLY, key_of

_CONNECT = b"CONNECT "
_NO_KEY = (
    "the program sends no key; the environment variables of a job's program contain a "
    "key for gRPC and TensorFlow"
)
_HTTPS_PORT = 443


@dataclass(frozen=True)
class NodeProxy:
    """The proxy for programs on nodes.

    ``check_key`` and ``check_call`` raise a ServiceError if the key isn't that of a program.
    Callers without a valid key learn nothing about what is served.
    """

    tunnels: Tunnels
    check_key: Callable[[str], object]
    check_call: Callable[[str], object]

    def connect(self) -> ProxyConnection:
        return ProxyConnection(self.tunnels, self._answer, self._admit)

    def stop(self) -> None:
        self.tunnels.stop()

    def _answer(self, request: ProxyRequest) -> ServedHost | bytes:
        program = key_of(request) is not None
        if not (program or _call_key(request) is not None):
            return refuse_program(_NO_KEY)
        host = find_host(request.host)
        if host is None:
            return refuse_host(request)
        if program and not (host.has_buckets or host.has_logs):
            return refuse_program(KEYED_ONLY)
        return host if request.port == _HTTPS_PORT else refuse_port(request)

    def _admit(self, request: ProxyRequest) -> Admission:
        """Returns how to answer the calls in a tunnel, each checked. Raises a ServiceError."""
        key = key_of(request)
        if key is not None:
            self.check_key(key)
            return Admission(key=key, app=self.tunnels.config.loaded_app)
        key = _call_key(request) or ""
        try:
            self.check_call(key)
        except NotFound as error:
            raise PermissionDenied("the program's key is not from this server") from error
        app = self.tunnels.config.loaded_app
        return Admission(f"Bearer {key}", app=app)


def _call_key(request: ProxyRequest) -> str | None:
    return request.password or "" if request.user == CALLER_USER else None


class NodeRequests(BoundedRequests):
    """HTTP connections of nodes; passes one that begins with CONNECT to the proxy.

    Without a ``proxy``, CONNECT is answered like any other request.
    """

    def __init__(self, *args: Any, proxy: NodeProxy | None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._proxy = proxy
        self._first: bytes | None = b"" if proxy is not None else None

    def data_received(self, data: bytes) -> None:
        if self._first is not None:
            data = self._first + data
            if len(data) < len(_CONNECT) and _CONNECT.startswith(data):
                self._first = data
                return
            self._first = None
            if self._proxy is not None and data.startswith(_CONNECT):
                self._hand_over(self._proxy.connect(), data)
                return
        super().data_received(data)

    def _hand_over(self, proxy: ProxyConnection, data: bytes) -> None:
        transport = self.transport
        self.connections.discard(self)
        self._await_nothing()
        transport.set_protocol(proxy)
        proxy.connection_made(transport)
        proxy.data_received(data)
