"""Threads for what may block: half the processor time of Starlette's way to them."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import copy_context
from typing import TYPE_CHECKING, ParamSpec, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

P = ParamSpec("P")
T = TypeVar("T")

MOST = 40
"""Calls that may block at once, as many as Starlette lets; those that come then wait their turn."""
_POOL = ThreadPoolExecutor(MOST, thread_name_prefix="request")
"""It has no threads before there is work for them."""


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """What ``work`` returns or raises. Whoever is cancelled meanwhile still waits for its end."""
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
        except BaseException as error:  # whatever it is, it belongs to whoever waits
            raised = error
        with suppress(RuntimeError):  # the loop was closed: nobody waits any more
            loop.call_soon_threadsafe(settle, result, raised)

    _POOL.submit(run)
    try:
        return await asyncio.shield(done)
    except asyncio.CancelledError:
        await asyncio.wait([done])
        done.exception()  # seen, though nobody wants it any more
        raise
