"""A small thread pool for handlers that may block."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from contextvars import copy_context
from queue import SimpleQueue
from threading import Lock, Thread
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

MOST = 40
"""Calls that may block at once, as many as Starlette lets; those that come then wait their turn."""


class _Threads:
    """A pool of at most ``most`` threads, created when work arrives, and kept.

    The threads end with the process, while anyio's keep it alive: a call may hang as long as a
    network disk is unavailable. An executor of the standard library creates a future for each call,
    and locks it six times.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._made = 0
        self._spare = 0
        """How many threads wait for work, less how many calls wait for a thread."""
        self._lock = Lock()
        self._calls: SimpleQueue[Callable[[], None]] = SimpleQueue()

    def submit(self, call: Callable[[], None]) -> None:
        """Queues ``call``, which must raise nothing. Raises RuntimeError without a thread."""
        with self._lock:
            if self._spare <= 0 and self._made < self._most:
                Thread(target=self._serve, name=f"request_{self._made}", daemon=True).start()
                self._made += 1
                self._spare += 1
            self._spare -= 1
        self._calls.put(call)

    def _serve(self) -> None:
        while True:
            self._calls.get()()
            with self._lock:
                self._spare += 1


_THREADS = _Threads(MOST)


def make_event() -> tuple[asyncio.Event, Callable[[], None]]:
    """Returns an event of this loop, and a function that sets it from any thread."""
    loop, event = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with suppress(RuntimeError):  # the server has stopped meanwhile
            loop.call_soon_threadsafe(event.set)

    return event, wake


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Returns or raises the outcome of ``work`` in a thread. A cancelled caller waits, too."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    context = copy_context()

    def settle(result: T | None, error: BaseException | None) -> None:
        if error is None:
            done.set_result(result)  # type: ignore[arg-type]  # then it is what work returned
        else:
            done.set_exception(error)

    def run() -> None:
        result, raised = None, None
        try:
            result = context.run(work, *args, **kwargs)
        except BaseException as error:  # the exception belongs to the waiting caller
            raised = error
        with suppress(RuntimeError):  # the loop was closed: no caller waits any more
            loop.call_soon_threadsafe(settle, result, raised)

    _THREADS.submit(run)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        done.exception()  # retrieved, although no caller needs it
        raise
