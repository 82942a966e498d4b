"""Calls of programs on other machines, which their launchers pass on from the node's loopback."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.security import check_key, given_token, lead_to_key

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from footplate.api.security import Access


class RelayedPrograms:
    """Programs' keys open the buckets at the root, too, as they do on the server's machine.

    Links in answers say http: that is what a program speaks to its launcher.
    """

    def __init__(self, app: ASGIApp, access: Access) -> None:
        self._app = app
        self._access = access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "scheme": "http"}
            given = given_token(scope)
            if given is not None and await check_key(self._access, scope["path"], given):
                scope = lead_to_key(scope, given)
        await self._app(scope, receive, send)
