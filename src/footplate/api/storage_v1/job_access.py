"""The storage API for the programs of jobs. Each program gets a URL that contains its key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Mount, Router

from footplate.api.storage_v1.responses import error_answer
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import ServiceError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.routing import Route
    from starlette.types import Receive, Scope, Send


def program_routes(path: str, check: Callable[[str], None], routes: Sequence[Route]) -> Mount:
    """``routes`` once more, at ``PATH/KEY``; ``check`` raises a ServiceError of a wrong key."""
    return Mount(path, app=_JobAccess(check, routes))


class _JobAccess:
    def __init__(self, check: Callable[[str], None], routes: Sequence[Route]) -> None:
        self._check = check
        self._router = Router(routes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Behind it the key is a part of the root, so that all links that are given have it."""
        key = scope["path"].removeprefix(scope["root_path"]).lstrip("/").partition("/")[0]
        try:
            await in_thread(self._check, key)
        except ServiceError as error:
            await error_answer(error)(scope, receive, send)
            return
        root = f"{scope['root_path']}/{key}"
        await self._router({**scope, "root_path": root, "app_root_path": root}, receive, send)
