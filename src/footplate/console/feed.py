"""Tells open pages that jobs have changed: one feed for all of them, by server-sent events."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

LEAST_S = 1.0
"""The shortest time between two events of one page."""
ALIVE_S = 15.0
"""So often a comment shows both sides that the other one is there."""


class Feed:
    """``changed`` is called by any thread, all else by that of the event loop."""

    def __init__(self, least_s: float = LEAST_S) -> None:
        self._least_s = least_s
        self._number = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Event] = set()
        self._told = False

    def changed(self) -> None:
        """Costs a service whose pages nobody has open nothing."""
        self._number += 1
        if self._waiting and not self._told and self._loop is not None:
            self._told = True
            with suppress(RuntimeError):  # the server has stopped meanwhile
                self._loop.call_soon_threadsafe(self._wake)

    def _wake(self) -> None:
        self._told = False
        for event in self._waiting:
            event.set()

    async def events(self) -> AsyncGenerator[bytes]:
        """The body of an ``text/event-stream``; the first event comes at once."""
        self._loop = asyncio.get_running_loop()
        changed = asyncio.Event()
        self._waiting.add(changed)
        try:
            yield b"retry: 2000\n\n"
            while True:
                changed.clear()
                yield f"event: change\ndata: {self._number}\n\n".encode()
                await asyncio.sleep(self._least_s)
                while not await _happens(changed):
                    yield b": alive\n\n"
        finally:
            self._waiting.discard(changed)


async def _happens(changed: asyncio.Event) -> bool:
    try:
        await asyncio.wait_for(changed.wait(), ALIVE_S)
    except TimeoutError:
        return False
    return True
