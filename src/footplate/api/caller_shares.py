"""Divides what requests need at once among those who call."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.control.program_storage import PATH as PROGRAMS
from footplate.wire.scope_keys import PROGRAM

MOST_OF_PROGRAMS = 24
"""Requests of all programs that are worked on at once: fewer than there are worker threads."""
MOST_OF_PROGRAM = 12
_PROGRAM = "program "


def find_caller(scope: Scope) -> str:
    """Returns who calls: a program by its key or its job, any other caller by its address."""
    path: str = scope["path"]
    if path.startswith(f"{PROGRAMS}/"):
        return _PROGRAM + path.split("/", 3)[2]
    if job := scope.get(PROGRAM):
        return f"{_PROGRAM}{job}"
    client = scope.get("client")
    return str(client[0]) if client else ""


def is_program(caller: str) -> bool:
    return caller.startswith(_PROGRAM)


class Shares:
    """A limit of ``most`` concurrent calls in all; further callers wait for their turn."""

    def __init__(self, most: int) -> None:
        self._all = asyncio.Semaphore(most)
        self._callers: dict[str, tuple[asyncio.Semaphore, int]] = {}
        """With how many use or wait for each."""

    def count(self, caller: str) -> int:
        """Returns how many shares this caller holds or waits for."""
        return self._callers[caller][1] if caller in self._callers else 0

    @asynccontextmanager
    async def taken(self, caller: str, most: int) -> AsyncIterator[None]:
        """Holds a share for the caller during the block; each caller has at most ``most``."""
        own, users = self._callers.get(caller, (asyncio.Semaphore(most), 0))
        self._callers[caller] = own, users + 1
        try:
            # The own share comes first: a caller that waits for it holds up no other.
            async with own, self._all:
                yield
        finally:
            own, users = self._callers.pop(caller)
            if users > 1:
                self._callers[caller] = own, users - 1


class ProgramShares:
    """Middleware that limits programs to a part of the server until their answers begin."""

    def __init__(self, app: ASGIApp, shares: Shares) -> None:
        self._app = app
        self._shares = shares

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not is_program(caller := find_caller(scope)):
            await self._app(scope, receive, send)
            return
        async with AsyncExitStack() as share:
            await share.enter_async_context(self._shares.taken(caller, MOST_OF_PROGRAM))

            async def watch(message: Message) -> None:
                await share.aclose()  # who reads slowly keeps nothing occupied
                await send(message)

            await self._app(scope, receive, watch)
