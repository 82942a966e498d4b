"""Background threads that send vectors to the reducers and wait for results."""

from __future__ import annotations

import atexit
import contextlib
import functools
import queue
import sys
import threading
from typing import TYPE_CHECKING, NamedTuple, Protocol

from footplate_reduction.errors import ReductionError

if TYPE_CHECKING:
    from typing import Callable

    from footplate_reduction.client import Client
    from footplate_reduction.frames import Op, WireType
    from footplate_reduction.native.sender import Pending

    Done = Callable[["Exception | None"], None]

_LONGEST_WORDS = 512
_SHUTDOWN_TIMEOUT_S = 10.0
"""How long what is under way may take when its group is closed."""


class Vector(Protocol):
    """Elements of a tensor, or of several, on their way. One thread at a time calls it."""

    held: WireType

    def settle(self) -> memoryview:
        """Waits until the host has them; returns their bytes, whose place the result takes."""

    def deliver(self, done: Callable[[], None]) -> None:
        """Gives the tensors the result. ``done`` is called where whatever comes after it, on the
        tensors' device, finds them changed.
        """


class _Transfer(NamedTuple):
    vector: Vector
    op: Op
    wire: WireType | None
    done: Done


class TransferThread:
    """Sends vectors in the order of the calls.

    One thread starts vectors, another one waits for them, so the next is under way while the one
    before comes back. After an error all others fail with it.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._closed = False
        self._lost: Exception | None = None
        self._called: queue.SimpleQueue[_Transfer | None] = queue.SimpleQueue()
        self._started: queue.SimpleQueue[tuple[_Transfer, Pending] | None] = queue.SimpleQueue()
        self._starter = self._thread("starter", self._start)
        self._waiter = self._thread("waiter", self._wait)
        atexit.register(self._exit)

    def send(self, vector: Vector, op: Op, wire: WireType | None, done: Done) -> None:
        """``done`` is called once, on another thread: with nothing, or with what went wrong."""
        with self._lock:
            if not self._closed:
                self._called.put(_Transfer(vector, op, wire, done))
                return
        done(self._lost or ReductionError("this process group was destroyed"))

    def close(self, why: str | None = None) -> None:
        """Leaves the group; with ``why``, as a loss to all others. A second call does nothing."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._called.put(None)
        atexit.unregister(self._exit)
        if why is None:
            self._waiter.join(_SHUTDOWN_TIMEOUT_S)
        self._client.close(why)

    def _exit(self) -> None:
        """The program ends, and nobody has closed this. An error that ends it is reported."""
        error = getattr(sys, "last_value", None)
        self.close(None if error is None else _words(error))

    def _thread(self, what: str, run: Callable[[], None]) -> threading.Thread:
        thread = threading.Thread(target=run, name="reduction " + what, daemon=True)
        thread.start()
        return thread

    def _start(self) -> None:
        while True:
            transfer = self._called.get()
            if transfer is None:
                break
            try:
                pending = self._begin(transfer)
            except Exception as error:
                self._lose(transfer, error)
            else:
                self._started.put((transfer, pending))
        self._started.put(None)

    def _begin(self, transfer: _Transfer) -> Pending:
        if self._lost is not None:
            raise self._lost
        buffer = transfer.vector.settle()
        return self._client.start(buffer, transfer.vector.held, transfer.op, transfer.wire)

    def _wait(self) -> None:
        while True:
            started = self._started.get()
            if started is None:
                break
            transfer, pending = started
            try:
                pending.wait()
                _count_one()
                transfer.vector.deliver(functools.partial(transfer.done, None))
            except Exception as error:
                self._lose(transfer, error)

    def _lose(self, transfer: _Transfer, error: Exception) -> None:
        """The group has ended for this worker, and so for all."""
        if self._lost is None:
            self._lost = error
            with contextlib.suppress(Exception):  # the first error counts
                self._client.close(_words(error))
        transfer.done(self._lost)


def offloaded() -> int:
    """Returns how many all-reduces of this process reducers have made: a batch of tensors is one.

    Those that PyTorch's own backends made instead don't count, so 0 after a training says that
    reducers had no part in it.
    """
    return _offloaded


def _count_one() -> None:
    global _offloaded
    with _counting:
        _offloaded += 1


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"[:_LONGEST_WORDS]


_counting = threading.Lock()
_offloaded = 0
