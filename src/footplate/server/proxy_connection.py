"""Connections to the proxy, which begin with the head of one request, and to the gRPC port."""

from __future__ import annotations

import asyncio
import logging
from asyncio import StreamReader, StreamReaderProtocol, StreamWriter
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

from starlette.types import ASGIApp

from footplate.api.worker_threads import in_thread
from footplate.domain.errors import ServiceError
from footplate.grpc_api.relayed_callers import RelayedCaller
from footplate.proxy.hosts import ServedHost
from footplate.proxy.refusals import ESTABLISHED, refuse_head, refuse_program
from footplate.proxy.request_head import END, MAX_BYTES, BadHead, ProxyRequest, parse_head
from footplate.proxy.served_requests import RefusedRequests, ServedRequests
from footplate.server.bounded_http import TunnelledRequests
from footplate.server.door import Visitor, find_visitor
from footplate.server.grpc_relay import GrpcRelay
from footplate.server.leaf_certificates import GRPC, LeafCertificates

if TYPE_CHECKING:
    import ssl

    import uvicorn
    from uvicorn.server import ServerState

_HEAD_S = 30.0
_HANDSHAKE_S = 30.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Admission:
    """The kind of answers to the requests in a tunnel.

    ``authorization`` replaces the header that the client sends; None keeps that. ``key`` is that of
    a program, which reaches only its storage and its job's log. ``app`` answers gRPC; None means
    that of the gRPC port.
    """

    authorization: str | None = None
    key: str | None = None
    app: ASGIApp | None = None


@dataclass(frozen=True)
class Tunnels:
    """The state that connections to one proxy share. ``config`` names the app for HTTP."""

    url: str
    leaves: LeafCertificates
    relay: GrpcRelay
    config: uvicorn.Config
    state: ServerState
    connections: set[asyncio.Transport] = field(default_factory=set)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)

    def run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self.tasks.add(task)  # or nothing would hold it
        task.add_done_callback(self.tasks.discard)

    async def start_tls(
        self, transport: asyncio.Transport, received: _Received, context: ssl.SSLContext
    ) -> asyncio.Transport | None:
        """Starts TLS; returns None if the client rejected it and the connection has ended."""
        try:
            tls = await asyncio.get_running_loop().start_tls(
                transport, received, context, server_side=True, ssl_handshake_timeout=_HANDSHAKE_S
            )
        except (OSError, asyncio.CancelledError):  # ssl's errors are OSErrors
            tls = None
        if tls is None:
            self.connections.discard(transport)
            transport.abort()
        return tls

    async def relay_grpc(
        self,
        transport: asyncio.Transport,
        tls: asyncio.Transport,
        received: _Received,
        admission: Admission,
    ) -> None:
        """Relays until one side has ended. ``transport`` is the one below ``tls``."""
        caller = RelayedCaller(
            transport.get_extra_info("peername")[:2],
            transport.get_extra_info("sockname")[:2],
            admission.authorization,
            admission.app,
        )
        loop = asyncio.get_running_loop()
        reader = StreamReader(loop=loop)
        protocol = StreamReaderProtocol(reader, loop=loop)
        received.hand_over(tls, protocol)
        writer = StreamWriter(tls, protocol, reader, loop)
        try:
            with suppress(OSError):  # one of the two is gone
                connection = await self.relay.connect(caller)
                await connection.relay(reader, writer)
        finally:
            writer.close()
            self.connections.discard(transport)

    def stop(self) -> None:
        """Closes tunnels to gRPC and waiting connections; the HTTP server closes its own."""
        for task in self.tasks:
            task.cancel()
        for transport in list(self.connections):
            transport.abort()


class ProxyConnection(asyncio.Protocol):
    """Reads the head of one request to the proxy, then hands the connection over.

    ``answer`` returns the host to serve, or the bytes to send instead. ``admit`` runs in a thread
    for a tunnel; it raises a ServiceError if the client may not have one.
    """

    def __init__(
        self,
        tunnels: Tunnels,
        answer: Callable[[ProxyRequest], ServedHost | bytes],
        admit: Callable[[ProxyRequest], Admission],
    ) -> None:
        self._tunnels = tunnels
        self._answer = answer
        self._admit = admit
        self._begun = False
        self._head = bytearray()
        self._transport: asyncio.Transport
        self._timer: asyncio.TimerHandle
        self._visitor: Visitor | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._tunnels.connections.add(self._transport)
        self._timer = asyncio.get_running_loop().call_later(_HEAD_S, self._transport.abort)
        self._visitor = find_visitor(transport)

    def connection_lost(self, _error: Exception | None) -> None:
        self._timer.cancel()
        self._tunnels.connections.discard(self._transport)

    def data_received(self, data: bytes) -> None:
        if self._begun or self._transport.is_closing():
            return
        self._head += data
        end = self._head.find(END)
        if end < 0 and len(self._head) <= MAX_BYTES:
            return
        self._timer.cancel()
        if self._visitor is not None:
            self._visitor.door.mark_busy(self._visitor)
        if not 0 <= end <= MAX_BYTES:
            self._end(refuse_head(f"the request's headers have more than {MAX_BYTES} bytes"))
            return
        self._begin(end + len(END))

    def _begin(self, end: int) -> None:
        try:
            request = parse_head(bytes(self._head[:end]))
        except BadHead as error:
            self._end(refuse_head(str(error)))
            return
        answer = self._answer(request)
        if isinstance(answer, bytes):
            self._end(answer)
        elif not request.tunnel:
            self._serve_plainly(answer, self._admit(request))
        elif len(self._head) > end:
            self._end(refuse_head("the client sends bytes before the proxy has opened the tunnel"))
        else:
            self._begun = True
            self._tunnels.run(self._tunnel(answer, request))

    def _end(self, answer: bytes) -> None:
        self._transport.write(answer)
        self._transport.close()

    def _serve_plainly(self, host: ServedHost, admission: Admission) -> None:
        """Serves one request for ``http://HOST/...``, which the HTTP server answers."""
        self._tunnels.connections.discard(self._transport)
        http = self._make_http(host, admission, once=True)
        self._transport.set_protocol(http)
        http.connection_made(self._transport)
        http.data_received(bytes(self._head))

    async def _tunnel(self, host: ServedHost, request: ProxyRequest) -> None:
        try:
            admission = await in_thread(self._admit, request)
            context = await in_thread(self._tunnels.leaves.context, host.name)
        except ServiceError as error:
            self._end(refuse_program(error.message))
            return
        self._transport.write(ESTABLISHED)
        received = _Received()
        tls = await self._tunnels.start_tls(self._transport, received, context)
        if tls is None:
            return
        grpc = _admit_grpc(host, admission) if _speaks_grpc(tls) else None
        if grpc is not None:
            await self._tunnels.relay_grpc(self._transport, tls, received, grpc)
            return
        self._tunnels.connections.discard(self._transport)
        if _speaks_grpc(tls):
            tls.close()
        else:
            received.hand_over(tls, self._make_http(host, admission, once=False))

    def _make_http(
        self, host: ServedHost, admission: Admission, *, once: bool
    ) -> TunnelledRequests:
        tunnels = self._tunnels
        http = TunnelledRequests(config=tunnels.config, server_state=tunnels.state, app_state={})
        http.app = ServedRequests(
            http.app, host, admission.authorization, once=once, key=admission.key, url=tunnels.url
        )
        return http


class DirectGrpc(asyncio.Protocol):
    """A connection to the gRPC port, with a certificate for ``names``. TLS begins at once."""

    def __init__(self, tunnels: Tunnels, names: tuple[str, ...]) -> None:
        self._tunnels = tunnels
        self._names = names
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._transport.pause_reading()  # the first bytes are for TLS
        visitor = find_visitor(transport)
        if visitor is not None:
            visitor.door.mark_busy(visitor)
        self._tunnels.connections.add(self._transport)
        self._tunnels.run(self._serve())

    def connection_lost(self, _error: Exception | None) -> None:
        self._tunnels.connections.discard(self._transport)

    async def _serve(self) -> None:
        try:
            context = await in_thread(self._tunnels.leaves.context, *self._names)
        except ServiceError as error:
            _log.error("gRPC can't be served: %s", error.message)
            self._transport.abort()
            return
        received = _Received()
        tls = await self._tunnels.start_tls(self._transport, received, context)
        if tls is None:
            return
        if _speaks_grpc(tls):
            await self._tunnels.relay_grpc(self._transport, tls, received, Admission())
        else:
            tls.abort()


def _admit_grpc(host: ServedHost, admission: Admission) -> Admission | None:
    """Returns the admission for gRPC; None for a program's key at a bucket host."""
    if host.refused:
        return replace(admission, app=RefusedRequests(host.refused))
    if admission.key is None:
        return admission
    # It opens the writing of entries alone.
    authorization = f"Bearer {admission.key}"
    return replace(admission, authorization=authorization) if host.has_logs else None


def _speaks_grpc(tls: asyncio.Transport) -> bool:
    chosen: str | None = tls.get_extra_info("ssl_object").selected_alpn_protocol()
    return chosen == GRPC


class _Received(asyncio.Protocol):
    """Keeps the data that arrives between the handshake and the first read."""

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
