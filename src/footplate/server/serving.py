"""Runs the server: lock, socket, uvicorn, clean shutdown."""

from __future__ import annotations

import asyncio
import logging
import signal
import sys
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import uvicorn

from footplate.domain.errors import FailedPrecondition
from footplate.replica.open_files import raise_limit
from footplate.server.bounded_http import BoundedRequests, BoundedWebSocket
from footplate.server.data_dir import DataDir
from footplate.server.door import Door
from footplate.server.forwarded_headers import ForwardedHeaders
from footplate.server.listener import listen, url_of
from footplate.server.program_users import resolve
from footplate.server.repeated_records import install
from footplate.server.service import Service
from footplate.wire.shell_v1 import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable
    from types import FrameType

    from starlette.types import ASGIApp

    from footplate.domain.sites import Site
    from footplate.settings import Settings

    Ready = Callable[[str, Site, str | None], None]

_ENDINGS = (signal.SIGINT, signal.SIGTERM)
_GRACE_S = 2
"""How long open connections (followers of logs) may hold up the end of the server."""
_KEEP_ALIVE_S = 620
"""How long a connection that nobody uses is kept: a little longer than Google's own are.

Clients that come back to one which was closed meanwhile may fail, as httplib2 does when it has a
body to send.
"""
_TURN_S = 0.001
"""How long one thread may compute while others wait: an answer passes through three of them."""
_PING_S = 20.0
"""So often a shell that says nothing is pinged, lest something between here and there forget it."""


def serve(settings: Settings, on_ready: Ready) -> int:
    """Runs the service in this process until SIGINT, SIGTERM or `footplate down`.

    Calls ``on_ready`` once requests are answered: with the URL, this machine's site, and the
    leading server's URL if that is another one. Returns the number of jobs that continue without
    any server.

    Raises:
        FailedPrecondition: another server has the data directory.
        InvalidArgument: the directory or the address can't be used.
    """
    sys.setswitchinterval(_TURN_S)
    raise_limit()
    data_dir = DataDir(settings.data_dir, settings.reserve_mb << 20)
    data_dir.make()
    shared = not settings.database.startswith("sqlite:")
    with (
        data_dir.claimed(shared=shared),
        closing(listen(settings.host, settings.port, data_dir.last_ports())) as listener,
    ):
        data_dir.keep_port(listener.getsockname()[1])
        url = url_of(listener)
        stopping = threading.Event()
        install()
        with closing(_make_service(settings, data_dir, url, stopping.set)) as service:
            try:
                server = _Server(service, settings, url, stopping, on_ready)
                server.serve_on(listener)
            finally:
                data_dir.withdraw()
            return 0 if service.shares_database() else sum(service.status.active().values())


def _make_service(
    settings: Settings, data_dir: DataDir, url: str, stop: Callable[[], None]
) -> Service:
    try:
        return Service(settings, data_dir, url, stop)
    except OSError as error:
        reason = f"{error.filename}: {error.strerror}" if error.filename else str(error)
        raise FailedPrecondition(f"the service can't start: {reason}") from None


def _make_door(settings: Settings) -> Door:
    match resolve(settings.program_users):
        case [int(first), int(last)]:
            return Door.of_limits(settings.max_connections, (first, last))
        case [int(uid), _, _]:
            return Door.of_limits(settings.max_connections, (uid, uid))
    return Door.of_limits(settings.max_connections)


def _make_config(app: ASGIApp) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        loop="asyncio",
        http=BoundedRequests,
        timeout_graceful_shutdown=_GRACE_S,
        timeout_keep_alive=_KEEP_ALIVE_S,
        ws=BoundedWebSocket,
        ws_max_size=MAX_MESSAGE_BYTES,
        ws_ping_interval=_PING_S,
        # Pongs come behind what a slow side hasn't read yet: they say nothing by their absence.
        ws_ping_timeout=None,
        ws_per_message_deflate=False,
    )


class _Server(uvicorn.Server):
    """uvicorn's server with a callback when it is ready; it ends once ``stopping`` is set."""

    def __init__(
        self,
        service: Service,
        settings: Settings,
        url: str,
        stopping: threading.Event,
        on_ready: Ready,
    ) -> None:
        app: ASGIApp = service.app
        # Else programs, which call from the loopback, could name another client's connection.
        if settings.token is not None:
            app = ForwardedHeaders(app, settings.trusted_proxies)
        super().__init__(_make_config(app))
        self._door = _make_door(settings)
        self._service = service
        self._url = url
        self._stopping = stopping
        self._on_ready = on_ready

    def serve_on(self, listener: socket.socket) -> None:
        log = logging.getLogger("uvicorn.error")
        log.setLevel(logging.WARNING)
        log.addFilter(_is_news)
        # uvicorn shuts down on these two signals, and then raises them again for its caller.
        handlers = {number: signal.signal(number, _interrupt) for number in _ENDINGS}
        with suppress(KeyboardInterrupt):
            self.run(sockets=[self._door.guard(listener)])
        for number, handler in handlers.items():
            signal.signal(number, handler)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        service = self._service
        await service.tls.start(service.app, self.config, self.server_state, self._door)
        await super().startup(sockets=sockets)
        await self._start_cluster()
        self._service.start()
        leader = self._service.cluster_member.leader_url
        self._on_ready(self._url, self._service.site, None if leader == self._url else leader)

    async def _start_cluster(self) -> None:
        service, state = self._service, self.server_state
        if service.cluster is None:
            return
        config = _make_config(service.cluster_app)
        proxy = service.tls.make_node_proxy(config, state, service.keyed_calls.check)
        member = service.cluster_member
        await service.cluster.start(config, state, lambda: member.leads, proxy, self._door)

    async def on_tick(self, counter: int) -> bool:
        return await super().on_tick(counter) or self._stopping.is_set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._service.control_requests.close()  # or its open questions would hold up the end
        await self._service.tls.stop(_GRACE_S)
        if self._service.cluster is not None:
            self._service.cluster.stop()
        await super().shutdown(sockets=sockets)


def _is_news(record: logging.LogRecord) -> bool:
    """Returns whether to log a record; not if it reports followers cut off at the server's end."""
    cause = record.exc_info[1] if record.exc_info else None
    return not (isinstance(cause, asyncio.CancelledError) or str(record.msg).startswith("Cancel "))


def _interrupt(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
