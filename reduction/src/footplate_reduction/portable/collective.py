"""One all-reduce of a worker in the portable engine."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from footplate_reduction.errors import ReductionError
from footplate_reduction.portable import summation

if TYPE_CHECKING:
    from footplate_reduction.frames import Op, WireType

_SINGLE = np.dtype("<f4")


class Collective:
    """A vector on its way. Offsets and sizes are those on the wire."""

    def __init__(
        self, seq: int, vector: memoryview, held: WireType, wire: WireType, op: Op
    ) -> None:
        self.seq = seq
        self.wire = wire
        self.op = op
        self.length = len(vector) // held.itemsize
        """In elements."""
        self.nbytes = self.length * wire.itemsize
        self._vector = vector
        self._scale = held.itemsize // wire.itemsize
        self._missing = self.nbytes
        self._done = threading.Event()
        self._error: ReductionError | None = None
        if not self.nbytes:
            self._done.set()

    def part(self, offset: int, nbytes: int) -> memoryview:
        """This worker's bytes of a chunk."""
        held = self._held(offset, nbytes)
        if self._scale == 1:
            return held
        narrow = np.empty(nbytes, np.uint8)
        summation.narrow(np.frombuffer(held, _SINGLE), self.wire, narrow)
        return narrow.data

    def place(self, offset: int, nbytes: int) -> memoryview:
        """Where the result of a chunk is to be put."""
        if self._scale == 1:
            return self._held(offset, nbytes)
        return memoryview(bytearray(nbytes))

    def land(self, offset: int, payload: memoryview) -> None:
        """A result is whole, at the ``place`` that it was given."""
        if self._scale != 1:
            held = np.frombuffer(self._held(offset, len(payload)), _SINGLE)
            held[:] = summation.widened(np.frombuffer(payload, np.uint8), self.wire)
        self._missing -= len(payload)
        if not self._missing:
            self._done.set()

    def fail(self, error: ReductionError) -> None:
        if not self._done.is_set():
            self._error = error
            self._done.set()

    @property
    def done(self) -> bool:
        return self._done.is_set()

    def wait(self) -> None:
        """As ``engines.Pending``."""
        self._done.wait()
        if self._error is not None:
            raise ReductionError(str(self._error), self._error.culprit)

    def _held(self, offset: int, nbytes: int) -> memoryview:
        return self._vector[offset * self._scale : (offset + nbytes) * self._scale]
