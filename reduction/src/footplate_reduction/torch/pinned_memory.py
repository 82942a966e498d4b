"""A pool of pinned memory buffers for asynchronous copies to and from a GPU.

It imports nothing of PyTorch, so that it can be tried without that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing import Callable

_SMALLEST_BYTES = 1 << 12


class Event(Protocol):
    """A CUDA event."""

    def query(self) -> bool:
        """Returns whether all work that was queued before the event is finished."""


class PinnedPool:
    """A pool of pinned buffers for one device, without those that the GPU may still be reading."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        """Creates an empty pool. ``make`` allocates a buffer of a given number of bytes."""
        self._make = make
        self._idle: dict[int, list[tuple[Any, Event]]] = {}

    def take(self, nbytes: int) -> Any:
        """Returns a buffer of at least ``nbytes``. Sizes are powers of two, to keep them few."""
        size = _rounded(nbytes)
        idle = self._idle.get(size, [])
        for at, (buffer, event) in enumerate(idle):
            if event.query():
                del idle[at]
                return buffer
        return self._make(size)

    def give(self, buffer: Any, nbytes: int, event: Event) -> None:
        """Returns to the pool a buffer that was taken for ``nbytes``; it is free once ``event`` has
        happened.
        """
        self._idle.setdefault(_rounded(nbytes), []).append((buffer, event))


def _rounded(nbytes: int) -> int:
    return max(_SMALLEST_BYTES, 1 << (nbytes - 1).bit_length())
