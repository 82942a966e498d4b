"""Serves a lane of a reducer for one group: receives the parts of all workers, and adds them."""

from __future__ import annotations

import ctypes
from typing import TYPE_CHECKING

from footplate_reduction import tcp_options
from footplate_reduction.errors import ReducerUnreachable
from footplate_reduction.frames import WINDOW
from footplate_reduction.native.library import LaneCounters, Library, Status, descriptors, load

if TYPE_CHECKING:
    import socket
    from typing import Sequence

    from footplate_reduction.counters import Counters
    from footplate_reduction.limits import Limits

_POLL_INTERVAL_MS = 500
"""How often the counters of a lane that serves are brought up to date."""


def serve(
    connections: Sequence[socket.socket], limits: Limits, counters: Counters, ending: int
) -> None:
    """Serves one lane; blocks until all workers have left with BYE, and closes the connections.

    The connections are authenticated and in the order of ranks. ``ending`` is a descriptor that
    becomes readable when the reducer shall end; all lanes share it, and none reads from it.

    Raises ReductionError if a loss has ended the group and all workers have been notified, and
    ReducerUnreachable if none of them could be notified.
    """
    library = load()
    name = tcp_options.address(connections[0], peer=False).encode()
    lane = library.lane_open(
        descriptors(connections),
        len(connections),
        name,
        limits.timeout_s,
        limits.patience_s,
        WINDOW,
        ending,
    )
    if not lane:
        raise MemoryError(library.last_failure())
    try:
        status = _run(library, lane, counters)
        if status is Status.FAILED:
            raise MemoryError(library.last_failure())
        if status is not Status.DONE:
            error = library.lane_error(lane)
            silent = status is Status.CUT_OFF
            raise ReducerUnreachable(_ALONE + str(error)) if silent else error
    finally:
        library.lane_close(lane)


def _run(library: Library, lane: int, counters: Counters) -> Status:
    before, now = LaneCounters(), LaneCounters()
    status = Status.GOING_ON
    while status is Status.GOING_ON:
        status = Status(library.lane_run(lane, _POLL_INTERVAL_MS, ctypes.byref(now)))
        for name, _ in LaneCounters._fields_:
            grown = getattr(now, name) - getattr(before, name)
            setattr(counters, name, getattr(counters, name) + grown)
            setattr(before, name, getattr(now, name))
    return status


_ALONE = "no worker of the group answers; the first error: "
