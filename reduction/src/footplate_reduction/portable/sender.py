"""The worker's side: a background thread sends and receives."""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
from collections import deque
from typing import TYPE_CHECKING, Sequence

from footplate_reduction.chunk_plan import credit_bytes, plan
from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import FrameType, Header, WireType
from footplate_reduction.handshake_frames import error_frame
from footplate_reduction.portable.collective import Collective
from footplate_reduction.portable.endpoint_connection import EndpointConnection
from footplate_reduction.portable.shutdown import SHUTDOWN_TIMEOUT_S, shut_down

if TYPE_CHECKING:
    from footplate_reduction.frames import Op
    from footplate_reduction.limits import Limits


class PortableSender:
    """As ``engines.Sender``. Its thread alone touches the connections."""

    def __init__(
        self, connections: Sequence[socket.socket], rank: int, world: int, limits: Limits
    ) -> None:
        credit = credit_bytes(limits, world, len(connections))
        self._endpoint_connections = [
            EndpointConnection(each, rank, credit) for each in connections
        ]
        self._rank = rank
        self._world = world
        self._limits = limits
        self._answer_s = limits.patience_s + limits.timeout_s
        self._seq = 0
        self._lock = threading.Lock()
        self._started: deque[Collective] = deque()
        """Since the thread last looked."""
        self._pending: deque[Collective] = deque()
        self._closing = False
        self._why: str | None = None
        self._error: ReductionError | None = None
        self._bell, self._ringer = socket.socketpair()
        self._bell.setblocking(False)
        self._ringer.setblocking(False)
        self._thread = threading.Thread(target=self._run, name="reduction sender", daemon=True)
        self._thread.start()

    def start(
        self, vector: memoryview, held: WireType, op: Op, wire: WireType | None = None
    ) -> Collective:
        wire = held if wire is None else wire
        with self._lock:
            if self._error is not None:
                raise ReductionError(str(self._error), self._error.culprit)
            if self._closing:
                raise ReductionError(f"worker {self._rank} has left its group")
            collective = Collective(self._seq & 0xFFFFFFFF, vector, held, wire, op)
            self._seq += 1
            self._started.append(collective)
        self._ring()
        return collective

    def close(self, why: str | None = None) -> None:
        with self._lock:
            if not self._closing:
                self._closing, self._why = True, why
        self._ring()
        self._thread.join()

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # it rings already, or the thread is through
            self._ringer.send(b"!")

    # From here on: the thread

    def _run(self) -> None:
        try:
            with selectors.DefaultSelector() as selector:
                self._move(selector)
        except ReductionError as error:
            self._end(error)
        except Exception as error:
            self._end(ReductionError(f"worker {self._rank} failed: {error!r}", self._rank))
        self._bell.close()
        self._ringer.close()

    def _move(self, selector: selectors.BaseSelector) -> None:
        selector.register(self._bell, selectors.EVENT_READ)
        interest: dict[EndpointConnection, int] = {}
        for endpoint_connection in self._endpoint_connections:
            selector.register(
                endpoint_connection.connection, selectors.EVENT_READ, endpoint_connection
            )
            interest[endpoint_connection] = selectors.EVENT_READ
        while not self._take():
            for endpoint_connection in self._endpoint_connections:
                full = endpoint_connection.send()
                wanted = selectors.EVENT_READ | (selectors.EVENT_WRITE if full else 0)
                if wanted != interest[endpoint_connection]:
                    selector.modify(endpoint_connection.connection, wanted, endpoint_connection)
                    interest[endpoint_connection] = wanted
            for key, events in selector.select(self._patience_left()):
                if key.data is not None and events & selectors.EVENT_READ:
                    self._receive(key.data)
        self._leave()

    def _take(self) -> bool:
        """What was started meanwhile. Returns whether it was the end."""
        with contextlib.suppress(BlockingIOError, InterruptedError):
            self._bell.recv(4096)
        with self._lock:
            started, self._started = self._started, deque()
            closing = self._closing
        while self._pending and self._pending[0].done:
            self._pending.popleft()
        for collective in started:
            self._begin(collective)
        return closing

    def _begin(self, collective: Collective) -> None:
        if collective.done:
            return
        self._pending.append(collective)
        endpoints = len(self._endpoint_connections)
        cut = plan(collective.nbytes, collective.seq, endpoints, self._world, self._limits)
        for index, endpoint_connection in enumerate(self._endpoint_connections):
            endpoint_connection.push(collective, cut.chunks(index))

    def _patience_left(self) -> float | None:
        left: list[float] = []
        for endpoint_connection in self._endpoint_connections:
            overdue = endpoint_connection.overdue(self._answer_s)
            if overdue is not None and overdue <= 0:
                raise endpoint_connection.stuck(self._answer_s)
            if overdue is not None:
                left.append(overdue)
        return min(left) if left else None

    def _receive(self, endpoint_connection: EndpointConnection) -> None:
        try:
            endpoint_connection.receive()
        except ReductionError:
            endpoint_connection.connection.close()
            self._endpoint_connections.remove(endpoint_connection)
            raise

    def _leave(self) -> None:
        unfinished = next((each for each in self._pending if not each.done), None)
        if self._why is None and unfinished is None:
            self._say(Header(FrameType.BYE, rank=self._rank).pack())
            return
        why = self._why or "it was closed"
        at = self._seq - 1 if unfinished is None else unfinished.seq
        message = "worker {} left at collective {}: {}"
        raise ReductionError(message.format(self._rank, max(at, 0), why), self._rank)

    def _end(self, error: ReductionError) -> None:
        """Notifies the reducers first, because this process may exit as soon as its user sees the
        error.
        """
        self._say(error_frame(str(error), error.culprit))
        with self._lock:
            self._error = error
            pending = [*self._pending, *self._started]
        for collective in pending:
            collective.fail(error)

    def _say(self, words: bytes) -> None:
        said = [
            (each.connection, [*each.rest(), memoryview(words)])
            for each in self._endpoint_connections
        ]
        shut_down(said, SHUTDOWN_TIMEOUT_S)
