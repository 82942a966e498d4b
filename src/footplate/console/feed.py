"""Tells open pages that jobs have changed: one feed for all of them, by server-sent events."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import suppress

LEAST_S = 1.0
"""The shortest time between two events of one page."""
LEAST_S_OF_EACH = 0.05
"""So much longer is that time with each open page, as each reads itself again after an event."""
ALIVE_S = 15.0
"""So often a comment shows both sides that the other one is there."""


class Feed:
    """Sends events to pages when jobs change. Any thread may call ``changed``, only the event
    loop's the rest.

    All pages get an event at the same time; those that read the same share one answer, see
    ``shared_answers``.
    """

    def __init__(self, least_s: float = LEAST_S, least_s_of_each: float = LEAST_S_OF_EACH) -> None:
        self._least_s = least_s
        self._least_s_of_each = least_s_of_each
        self._number = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: set[asyncio.Event] = set()
        self._told = False
        self._told_at = float("-inf")

    def changed(self) -> None:
        """Notes a change, and wakes the open pages; without any it costs nothing."""
        self._number += 1
        if self._waiting and not self._told and self._loop is not None:
            self._told = True
            with suppress(RuntimeError):  # the server has stopped meanwhile
                self._loop.call_soon_threadsafe(self._schedule, self._loop)

    def _schedule(self, loop: asyncio.AbstractEventLoop) -> None:
        least_s = max(self._least_s, self._least_s_of_each * len(self._waiting))
        loop.call_later(max(0.0, self._told_at + least_s - loop.time()), self._wake, loop)

    def _wake(self, loop: asyncio.AbstractEventLoop) -> None:
        self._told, self._told_at = False, loop.time()
        for event in self._waiting:
            event.set()

    async def events(self) -> AsyncGenerator[bytes]:
        """Yields the body of a ``text/event-stream``; the first event comes at once."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._told = loop, False
        changed = asyncio.Event()
        self._waiting.add(changed)
        try:
            yield b"retry: 2000\n\n"
            while True:
                changed.clear()
                yield f"event: change\ndata: {self._number}\n\n".encode()
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
