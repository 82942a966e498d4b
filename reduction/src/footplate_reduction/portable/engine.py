"""The portable engine, behind the interface ``engines.Engine``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from footplate_reduction.portable.lane import Lane
from footplate_reduction.portable.sender import PortableSender

if TYPE_CHECKING:
    import socket
    from typing import Sequence

    from footplate_reduction.counters import Counters
    from footplate_reduction.engines import Engine
    from footplate_reduction.limits import Limits


class Portable:
    name = "portable"
    detail = "NumPy " + np.__version__

    def sender(
        self, connections: Sequence[socket.socket], rank: int, world: int, limits: Limits
    ) -> PortableSender:
        return PortableSender(connections, rank, world, limits)

    def serve(
        self,
        connections: Sequence[socket.socket],
        limits: Limits,
        counters: Counters,
        ending: int,
    ) -> None:
        Lane(connections, limits, counters, ending).run()


ENGINE: Engine = Portable()
