"""Clients that go away before they have their answer."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TypeVar

from starlette.requests import Request
from starlette.types import Receive

from footplate.domain.errors import Cancelled

T = TypeVar("T")


async def leaves(receive: Receive) -> None:
    """Returns when the client has disconnected; discards the rest of the body."""
    while (await receive())["type"] != "http.disconnect":
        pass


async def while_wanted(request: Request, work: Coroutine[object, object, T]) -> T:
    """Returns or raises the outcome of ``work``; cancels it when the client disconnects.

    Raises Cancelled if the client has disconnected.
    """
    task, leaving = asyncio.ensure_future(work), asyncio.ensure_future(leaves(request.receive))
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        raise Cancelled("the client has closed the connection")
    finally:
        leaving.cancel()
        task.cancel()
        await asyncio.wait((task,))
