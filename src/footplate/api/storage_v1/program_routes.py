"""The storage API for the programs of jobs. Each program gets a URL that contains its key."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Sequence
from functools import lru_cache
from typing import TypeVar

from starlette.routing import Mount, Route, Router
from starlette.types import Message, Receive, Scope, Send

from footplate.api.storage_v1.responses import error_answer
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import ServiceError

_MAX_ROUTERS = 128
CHECKED_S = 5.0
"""How long a key counts that was checked."""
S = TypeVar("S", bound="Hashable")


def program_routes(
    path: str, check: Callable[[str], S], make_routes: Callable[[S], Sequence[Route]]
) -> Mount:
    """Returns the storage API at ``PATH/KEY``, for programs.

    ``check`` returns what a key opens, and raises a ServiceError for a wrong key; ``make_routes``
    makes the routes for what was opened.
    """

    @lru_cache(_MAX_ROUTERS)
    def make_router(opened: S) -> Router:
        return Router(make_routes(opened))

    return Mount(path, app=_JobAccess(lambda key: make_router(check(key))))


class _JobAccess:
    def __init__(self, find_router: Callable[[str], Router]) -> None:
        self._find_router = find_router

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serves a call with the key in the root path, so that all links in answers have it."""
        key = scope["path"].removeprefix(scope["root_path"]).lstrip("/").partition("/")[0]
        began_s = time.monotonic()
        try:
            router = await in_thread(self._find_router, key)
        except ServiceError as error:
            await error_answer(error)(scope, receive, send)
            return

        async def receive_checked() -> Message:
            """Receives a part of the call, and before the last one checks the key again."""
            # What a node began to send before it was lost may end when its replica runs elsewhere.
            message = await receive()
            is_last = message["type"] == "http.request" and not message.get("more_body", False)
            if is_last and time.monotonic() - began_s > CHECKED_S:
                await in_thread(self._find_router, key)
            return message

        root = f"{scope['root_path']}/{key}"
        await router({**scope, "root_path": root, "app_root_path": root}, receive_checked, send)
