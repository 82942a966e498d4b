"""Runs the server: lock, socket, uvicorn, clean shutdown."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from time import monotonic
from types import FrameType
from typing import TYPE_CHECKING, cast

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from footplate.domain.errors import FailedPrecondition
from footplate.domain.sites import Site
from footplate.replica.open_files import raise_limit
from footplate.server.bounded_http import BoundedRequests, BoundedWebSocket
from footplate.server.data_dir import DataDir
from footplate.server.door import Door
from footplate.server.listener import listen, url_of
from footplate.server.program_users import resolve
from footplate.server.service import Service
from footplate.wire.scope_keys import PEER
from footplate.wire.shell_v1 import MAX_MESSAGE_BYTES

if TYPE_CHECKING:
    from footplate.settings import Settings

    Ready = Callable[[str, Site, str | None], None]


# Keeps errors that repeat from filling the server's log.

WINDOW_S = 60.0
BURST = 5
"""So many of a kind are logged in each window: a client that reports a crash has its id."""
_MOST_KINDS = 1000


def install(window_s: float = WINDOW_S) -> None:
    """Limits repeated records in the log of this process."""
    shown = RepeatedRecords(window_s)
    for handler in logging.root.handlers or filter(None, [logging.lastResort]):
        handler.addFilter(shown)


class RepeatedRecords(logging.Filter):
    """Passes a few records of each kind in a time window, then one that counts the rest.

    ``later`` calls a function after so many seconds.
    """

    def __init__(
        self,
        window_s: float = WINDOW_S,
        clock: Callable[[], float] = monotonic,
        later: Callable[[float, Callable[[], None]], None] | None = None,
    ) -> None:
        super().__init__()
        self._window_s = window_s
        self._clock = clock
        self._later = later or _start_timer
        self._lock = threading.Lock()
        self._kinds: dict[tuple[object, ...], tuple[float, int]] = {}
        """Since when, and how many."""

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        kind, now = _kind(record), self._clock()
        with self._lock:
            since, count = self._kinds.get(kind, (now, 0))
            if now - since >= self._window_s:
                since, count = now, 0
            if len(self._kinds) >= _MOST_KINDS:
                self._kinds.clear()
            self._kinds[kind] = since, count + 1
        if count == BURST:
            self._later(self._window_s, lambda: self._report(kind, since, record))
        return count < BURST

    def _report(self, kind: tuple[object, ...], since: float, example: logging.LogRecord) -> None:
        with self._lock:
            found = self._kinds.pop(kind, (since, BURST))
        if found[0] == since:
            text, count = _first_line(example.getMessage()), found[1] - BURST
            logging.getLogger(example.name).log(
                example.levelno, "%d more in %d s like: %s", count, self._window_s, text
            )


def _kind(record: logging.LogRecord) -> tuple[object, ...]:
    """Returns a record's kind: logger, level, first line, and its error's type and place."""
    error = record.exc_info[1] if record.exc_info else None
    trace = error.__traceback__ if error else None
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    place = (trace.tb_frame.f_code.co_filename, trace.tb_lineno) if trace else ()
    return record.name, record.levelno, _first_line(str(record.msg)), type(error), place


def _first_line(text: str) -> str:
    """Returns the first line; in asyncio's records the rest names one connection or task."""
    return text.partition("\n")[0]


def _start_timer(after_s: float, call: Callable[[], None]) -> None:
    timer = threading.Timer(after_s, call)
    timer.daemon = True
    timer.start()


# Believes what reverse proxies say of their clients, and nobody else.

_LOOPBACK = ["127.0.0.1", "::1"]
_CLIENT = b"x-forwarded-for"


class ForwardedHeaders:
    """Middleware that applies proxies' headers. Only proxies may name the client in
    ``X-Forwarded-For``.

    ``X-Forwarded-Proto``, which affects only the addresses in the caller's own answer, is accepted
    from all of this machine. ``PEER`` in the scope is the connection's real peer.
    """

    def __init__(self, app: ASGIApp, proxies: Sequence[str]) -> None:
        # uvicorn's types and Starlette's are the same in other words.
        self._of_proxies = ProxyHeadersMiddleware(cast("object", app), list(proxies))  # type: ignore[arg-type]
        self._of_others = ProxyHeadersMiddleware(cast("object", app), _LOOPBACK)  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        scope = {**scope, PEER: client}
        if client and client[0] in self._of_proxies.trusted_hosts:
            await self._of_proxies(scope, receive, send)  # type: ignore[arg-type]
            return
        headers = [line for line in scope.get("headers", ()) if line[0] != _CLIENT]
        await self._of_others({**scope, "headers": headers}, receive, send)  # type: ignore[arg-type]


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
        # After the server answers at its ports: an announcement leads supervisors and clients
        # there.
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
