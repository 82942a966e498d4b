"""The native engine, behind the interface ``engines.Engine``."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from footplate_reduction import tcp_options
from footplate_reduction.errors import ReducerUnreachable
from footplate_reduction.frames import WINDOW
from footplate_reduction.native.library import LaneCounters, Library, Status, descriptors
from footplate_reduction.native.sender import NativeSender

if TYPE_CHECKING:
    import socket
    from typing import Sequence

    from footplate_reduction.counters import Counters
    from footplate_reduction.limits import Limits

_POLL_INTERVAL_MS = 500
"""How often the counters of a lane that serves are brought up to date."""


class Native:
    name = "native"

    def __init__(self, library: Library) -> None:
        self._library = library

    @property
    def detail(self) -> str:
        return str(self._library.instructions().decode())

    def sender(
        self, connections: Sequence[socket.socket], rank: int, world: int, limits: Limits
    ) -> NativeSender:
        return NativeSender(self._library, connections, rank, world, limits)

    def serve(
        self,
        connections: Sequence[socket.socket],
        limits: Limits,
        counters: Counters,
        ending: int,
    ) -> None:
        name = tcp_options.address(connections[0], peer=False).encode()
        lane = self._library.lane_open(
            descriptors(connections),
            len(connections),
            name,
            limits.timeout_s,
            limits.patience_s,
            WINDOW,
            ending,
        )
        if not lane:
            raise MemoryError(self._library.last_failure())
        try:
            status = self._run(lane, counters)
            if status is Status.FAILED:
                raise MemoryError(self._library.last_failure())
            if status is not Status.DONE:
                error = self._library.lane_error(lane)
                silent = status is Status.CUT_OFF
                raise ReducerUnreachable(_ALONE + str(error)) if silent else error
        finally:
            self._library.lane_close(lane)

    def _run(self, lane: int, counters: Counters) -> Status:
        before, now = LaneCounters(), LaneCounters()
        status = Status.GOING_ON
        while status is Status.GOING_ON:
            status = Status(self._library.lane_run(lane, _POLL_INTERVAL_MS, ctypes.byref(now)))
            for name, _ in LaneCounters._fields_:
                grown = getattr(now, name) - getattr(before, name)
                setattr(counters, name, getattr(counters, name) + grown)
                setattr(before, name, getattr(now, name))
        return status


_ALONE = "no worker of the group answers; the first: "
