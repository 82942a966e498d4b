"""The proxy's port: tunnels for Google's hosts end in this server, all others are refused."""

from __future__ import annotations

import asyncio
import hmac
import logging
from asyncio import StreamReader, StreamReaderProtocol, StreamWriter
from contextlib import suppress
from typing import TYPE_CHECKING, cast
from urllib.parse import unquote

from footplate.api.worker_threads import in_thread
from footplate.control.program_storage import PROXY_USER
from footplate.domain.errors import ServiceError
from footplate.grpc_api.relayed_calls import RelayedCaller
from footplate.proxy.hosts import find_host
from footplate.proxy.refusals import (
    ESTABLISHED,
    ask_password,
    refuse_head,
    refuse_host,
    refuse_port,
    refuse_program,
)
from footplate.proxy.request_head import END, MAX_BYTES, BadHead, ProxyRequest, parse_head
from footplate.proxy.served_requests import ServedRequests
from footplate.server.bounded_http import TunnelledRequests
from footplate.server.grpc_relay import GrpcRelay
from footplate.server.leaf_certificates import GRPC, LeafCertificates
from footplate.server.listener import listen

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable

    import uvicorn
    from uvicorn.server import ServerState

    from footplate.proxy.hosts import ServedHost
    from footplate.server.certificate_authority import CertificateAuthority
    from footplate.server.data_dir import DataDir
    from footplate.server.grpc_listener import GrpcListener
    from footplate.settings import Settings

_HEAD_S = 30.0
_HANDSHAKE_S = 30.0
MAX_REFUSED = 1000
"""Of hosts that were refused, that are remembered."""
_BUCKETS_ONLY = "its key leads to Cloud Storage, through CONNECT, and nowhere else"
_log = logging.getLogger(__name__)


class ProxyListener:
    """``port`` is known once it has started; ``refused`` are the hosts that were asked for.

    ``check_key`` raises a ServiceError of what isn't the key of a running program.
    """

    def __init__(
        self,
        settings: Settings,
        data_dir: DataDir,
        authority: CertificateAuthority,
        grpc: GrpcListener,
        check_key: Callable[[str], object],
    ) -> None:
        self.port: int | None = None
        self.refused: dict[str, None] = {}
        self.leaves = LeafCertificates(authority, data_dir.root)
        self.token = settings.token
        self.check_key = check_key
        self._settings = settings
        self._relay = GrpcRelay(grpc, settings.host)
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Transport] = set()
        self._tunnels: set[asyncio.Task[None]] = set()

    async def start(self, config: uvicorn.Config, state: ServerState) -> None:
        """``config`` and ``state`` are those of the HTTP server, which answers what isn't gRPC.

        Raises InvalidArgument: the port is taken.
        """
        listener = listen(self._settings.host, self._settings.proxy_port or 0)
        self.port = listener.getsockname()[1]

        def connected() -> _Connection:
            return _Connection(self, self._relay, config, state, self._connections, self._tunnels)

        self._server = await asyncio.get_running_loop().create_server(connected, sock=listener)

    def stop(self) -> None:
        """Tunnels to gRPC and connections that wait are cut off; the HTTP server ends its own."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for tunnel in self._tunnels:
            tunnel.cancel()
        for transport in list(self._connections):
            transport.abort()

    def answer(self, request: ProxyRequest) -> ServedHost | bytes:
        """The host that is to be served, or what is said instead."""
        program = key_of(request) is not None
        if self.token and not (program or _is_password(request.password or "", self.token)):
            return ask_password()
        host = find_host(request.host)
        if host is None:
            self._remember(f"{request.host}:{request.port}")
            return refuse_host(request)
        if program and not (request.tunnel and host.has_buckets):
            return refuse_program(_BUCKETS_ONLY)
        if request.port != (443 if request.tunnel else 80):
            return refuse_port(request)
        return host

    def _remember(self, address: str) -> None:
        if address not in self.refused:
            _log.info("the proxy refuses %s", address)
        if len(self.refused) < MAX_REFUSED:
            self.refused[address] = None


def key_of(request: ProxyRequest) -> str | None:
    """The key that a program of a job shows; None: somebody else asks."""
    return request.password or "" if request.user == PROXY_USER else None


def _is_password(given: str, token: str) -> bool:
    """Some clients send it percent-encoded, as it stands in the address of the proxy."""
    return any(
        hmac.compare_digest(each.encode(), token.encode()) for each in (given, unquote(given))
    )


class _Connection(asyncio.Protocol):
    """Reads the head of one request to the proxy, then hands the connection over."""

    def __init__(
        self,
        proxy: ProxyListener,
        relay: GrpcRelay,
        config: uvicorn.Config,
        state: ServerState,
        connections: set[asyncio.Transport],
        tunnels: set[asyncio.Task[None]],
    ) -> None:
        self._proxy = proxy
        self._relay = relay
        self._config, self._state = config, state
        self._connections = connections
        self._tunnels = tunnels
        self._begun = False
        self._head = bytearray()
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._connections.add(self._transport)
        self._timer = asyncio.get_running_loop().call_later(_HEAD_S, self._transport.abort)

    def connection_lost(self, _error: Exception | None) -> None:
        self._timer.cancel()
        self._connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        if self._begun or self._transport.is_closing():
            return
        self._head += data
        end = self._head.find(END)
        if end < 0 and len(self._head) <= MAX_BYTES:
            return
        self._timer.cancel()
        if not 0 <= end <= MAX_BYTES:
            self._end(refuse_head(f"its head is longer than {MAX_BYTES} bytes"))
            return
        self._begin(end + len(END))

    def _begin(self, end: int) -> None:
        try:
            request = parse_head(bytes(self._head[:end]))
        except BadHead as error:
            self._end(refuse_head(str(error)))
            return
        answer = self._proxy.answer(request)
        if isinstance(answer, bytes):
            self._end(answer)
        elif not request.tunnel:
            self._serve_plainly(answer)
        elif len(self._head) > end:
            self._end(refuse_head("bytes follow it, before the tunnel is there"))
        else:
            self._begun = True
            task = asyncio.ensure_future(self._tunnel(answer, key_of(request)))
            self._tunnels.add(task)  # or nothing would hold it
            task.add_done_callback(self._tunnels.discard)

    def _end(self, answer: bytes) -> None:
        self._transport.write(answer)
        self._transport.close()

    def _serve_plainly(self, host: ServedHost) -> None:
        """One request for ``http://HOST/...``, which the HTTP server answers."""
        self._connections.discard(self._transport)
        http = self._make_http(host, once=True)
        self._transport.set_protocol(http)
        http.connection_made(self._transport)
        http.data_received(bytes(self._head))

    async def _tunnel(self, host: ServedHost, key: str | None) -> None:
        try:
            if key is not None:
                await in_thread(self._proxy.check_key, key)
        except ServiceError as error:
            self._end(refuse_program(error.message))
            return
        self._transport.write(ESTABLISHED)
        received = _Received()
        try:
            tls = await self._start_tls(received, self._proxy.leaves.context(host.name))
        except (OSError, asyncio.CancelledError):  # ssl's errors are OSErrors
            self._connections.discard(self._transport)
            self._transport.abort()
            return
        if tls.get_extra_info("ssl_object").selected_alpn_protocol() == GRPC:
            await self._serve_grpc(tls, received, key)
            return
        self._connections.discard(self._transport)
        http = self._make_http(host, once=False, key=key)
        received.hand_over(tls, http)

    async def _start_tls(self, received: _Received, context: ssl.SSLContext) -> asyncio.Transport:
        loop = asyncio.get_running_loop()
        tls = await loop.start_tls(
            self._transport,
            received,
            context,
            server_side=True,
            ssl_handshake_timeout=_HANDSHAKE_S,
        )
        if tls is None:
            raise ConnectionResetError("the client has gone")
        return tls

    def _make_http(
        self, host: ServedHost, *, once: bool, key: str | None = None
    ) -> TunnelledRequests:
        http = TunnelledRequests(config=self._config, server_state=self._state, app_state={})
        http.app = ServedRequests(http.app, host, self._authorization(), once=once, key=key)
        return http

    def _authorization(self) -> str | None:
        """Who knows the proxy's password knows the token, which is the same."""
        return f"Bearer {self._proxy.token}" if self._proxy.token else None

    async def _serve_grpc(
        self, tls: asyncio.Transport, received: _Received, key: str | None
    ) -> None:
        transport = self._transport
        if key is not None:  # the buckets speak HTTP/1.1
            self._connections.discard(transport)
            tls.close()
            return
        caller = RelayedCaller(
            transport.get_extra_info("peername")[:2],
            transport.get_extra_info("sockname")[:2],
            self._authorization(),
        )
        loop = asyncio.get_running_loop()
        reader = StreamReader(loop=loop)
        protocol = StreamReaderProtocol(reader, loop=loop)
        received.hand_over(tls, protocol)
        writer = StreamWriter(tls, protocol, reader, loop)
        try:
            with suppress(OSError):
                connection = await self._relay.connect(caller)
                await connection.relay(reader, writer)
        finally:
            writer.close()
            self._connections.discard(transport)


class _Received(asyncio.Protocol):
    """Keeps what arrives between the handshake and the moment in which somebody reads it."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._ended = False

    def data_received(self, data: bytes) -> None:
        self._data += data

    def eof_received(self) -> bool:
        self._ended = True
        return False

    def hand_over(self, tls: asyncio.Transport, protocol: asyncio.Protocol) -> None:
        tls.set_protocol(protocol)
        protocol.connection_made(tls)
        if self._data:
            protocol.data_received(bytes(self._data))
        if self._ended:
            protocol.eof_received()
