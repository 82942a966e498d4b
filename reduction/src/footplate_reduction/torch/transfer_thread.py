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
    """The elements of one or more tensors in transfer. Only one thread at a time may call it."""

    held: WireType

    def settle(self) -> memoryview:
        """Waits until the host has the elements; returns their bytes, to be overwritten."""

    def deliver(self, done: Callable[[], None]) -> None:
        """Copies the result into the tensors, then calls ``done``.

        Work that ``done`` starts on the tensors' device finds them changed.
        """


class _Transfer(NamedTuple):
    vector: Vector
    op: Op
    wire: WireType | None
    done: Done


class TransferThread:
    """Threads that send vectors in the order of the calls.

    One thread starts vectors and another waits for them, so that the next vector travels while the
    previous one returns. After an error all others fail with it.
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
        """Queues a vector for its all-reduce.

        ``done`` is called once, on another thread: with nothing, or with the error.
        """
        with self._lock:
            if not self._closed:
                self._called.put(_Transfer(vector, op, wire, done))
                return
        done(self._lost or ReductionError("this process group was destroyed"))

    def close(self, why: str | None = None) -> None:
        """Leaves the group; with ``why``, others see a loss. A second call does nothing."""
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
        """Closes this at the program's exit, if it is open, and reports an error that ends it."""
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
        """Records and reports that the group has ended, and fails the transfer."""
        if self._lost is None:
            self._lost = error
            with contextlib.suppress(Exception):  # the first error counts
                self._client.close(_words(error))
        transfer.done(self._lost)


def offloaded() -> int:
    """Returns how many all-reduces of this process reducers have made; a batch of tensors counts as
    one.

    All-reduces by PyTorch's own backends don't count, so 0 after a training means that reducers had
    no part in it.
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
