"""Lanes of a reducer, and connections to them, in this process."""

from __future__ import annotations

import os
import socket
import threading
from queue import Empty, Queue
from typing import TYPE_CHECKING

from footplate_reduction import tcp_options
from footplate_reduction.counters import Counters
from footplate_reduction.errors import ReductionError
from footplate_reduction.limits import Limits
from footplate_reduction.native.lane import serve
from reduction.tests.rig import LONG_S

if TYPE_CHECKING:
    from collections.abc import Callable


PATIENT = Limits(timeout_s=LONG_S, patience_s=LONG_S)


class Lanes:
    """One lane for each endpoint; ``connections[rank][endpoint]`` are the workers' ends."""

    def __init__(
        self,
        world: int,
        endpoints: int = 1,
        limits: Limits = PATIENT,
        first: Callable[[int, socket.socket], None] = lambda *_: None,
    ) -> None:
        """``first``: what a worker, given its rank and its end, does before anybody serves it."""
        self.counters = [Counters() for _ in range(endpoints)]
        self.connections: list[list[socket.socket]] = [[] for _ in range(world)]
        self._ending, living = os.pipe()
        self._living: int | None = living
        self._ends: list[Queue[Exception | None]] = [Queue() for _ in range(endpoints)]
        self._threads: list[threading.Thread] = []
        for endpoint in range(endpoints):
            pairs = [connected(limits.timeout_s) for _ in range(world)]
            for rank, (workers_end, _) in enumerate(pairs):
                self.connections[rank].append(workers_end)
                first(rank, workers_end)
            reducers_ends = [end for _, end in pairs]
            work = (endpoint, reducers_ends, limits)
            self._threads.append(threading.Thread(target=self._serve, args=work))
        for thread in self._threads:
            thread.start()

    def __enter__(self) -> Lanes:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()
        for of_worker in self.connections:
            for connection in of_worker:
                connection.close()
        for thread in self._threads:
            thread.join(LONG_S)
        assert not any(thread.is_alive() for thread in self._threads)
        os.close(self._ending)

    def end(self) -> None:
        """As a reducer that was told to end."""
        if self._living is not None:
            os.close(self._living)
            self._living = None

    def outcome(self, endpoint: int = 0) -> Exception | None:
        try:
            return self._ends[endpoint].get(timeout=LONG_S)
        except Empty:
            raise AssertionError("the lane serves on") from None

    def loss(self, endpoint: int = 0) -> ReductionError:
        error = self.outcome(endpoint)
        assert isinstance(error, ReductionError)
        return error

    def _serve(self, endpoint: int, connections: list[socket.socket], limits: Limits) -> None:
        try:
            serve(connections, limits, self.counters[endpoint], self._ending)
        except Exception as error:
            self._ends[endpoint].put(error)
        else:
            self._ends[endpoint].put(None)


def connected(timeout_s: float = LONG_S) -> tuple[socket.socket, socket.socket]:
    """Two ends of a connection, as a handshake leaves them."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        one = socket.create_connection(listener.getsockname())
        other, _ = listener.accept()
    for end in (one, other):
        tcp_options.prepare(end, timeout_s)
    return one, other
