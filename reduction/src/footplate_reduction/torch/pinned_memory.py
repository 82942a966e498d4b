"""A pool of pinned memory buffers for asynchronous copies to and from a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from typing import Callable

_SMALLEST_BYTES = 1 << 12


class Event(Protocol):
    """An event of CUDA."""

    def query(self) -> bool:
        """Returns whether all work that was queued before the event is done."""


class PinnedPool:
    """Gives buffers out again, but none that a GPU may still be reading. For one device."""

    def __init__(self, make: Callable[[int], Any]) -> None:
        """``make`` makes a buffer of so many bytes."""
        self._make = make
        self._idle: dict[int, list[tuple[Any, Event]]] = {}

    def take(self, nbytes: int) -> Any:
        """Takes a buffer of at least so many bytes: the next power of two, so few sizes exist."""
        size = _rounded(nbytes)
        idle = self._idle.get(size, [])
        for at, (buffer, event) in enumerate(idle):
            if event.query():
                del idle[at]
                return buffer
        return self._make(size)

    def give(self, buffer: Any, nbytes: int, event: Event) -> None:
        """``buffer`` was taken for ``nbytes``, and is free once ``event`` has come."""
        self._idle.setdefault(_rounded(nbytes), []).append((buffer, event))


def _rounded(nbytes: int) -> int:
    return max(_SMALLEST_BYTES, 1 << (nbytes - 1).bit_length())
