"""Calls of programs on other machines, which their launchers pass on from the node's loopback."""

from __future__ import annotations

from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from footplate.api.security import SERVED_HOST, Access, check_key, given_token, lead_to_key
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import NotFound
from footplate.wire.scope_keys import PROGRAM

_CHECKED = ("http", "websocket")
_OWN_KEYS = ("/replica/", "/programs/")
"""What checks a token or a key by itself."""


class RelayedPrograms:
    """Middleware for programs whose calls a launcher relays: a program's key opens only what it
    may.

    The connection doesn't identify the caller, since it is the launcher's. ``check_call`` returns
    the name of a program's job; it raises PermissionDenied if the program may not call the API, and
    NotFound if the key is unknown. Links in answers begin with http, which programs speak to their
    launcher.
    """

    def __init__(self, app: ASGIApp, access: Access, check_call: Callable[[str], str]) -> None:
        self._app = app
        self._access = access
        self._check_call = check_call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in _CHECKED:
            if scope["type"] == "http" and SERVED_HOST not in scope:
                scope = {**scope, "scheme": "http"}
            scope = await self._admit(scope)
        await self._app(scope, receive, send)

    async def _admit(self, scope: Scope) -> Scope:
        """Checks the key of a call, and returns the call's scope with what the key stands for.

        At paths that a running program's key opens, the key is moved into the path; at others the
        name of the program's job is added. Paths that check keys themselves aren't checked here.
        Raises NotFound, PermissionDenied.
        """
        path = scope["path"]
        if path.startswith(_OWN_KEYS):
            return scope
        given = given_token(scope)
        if given is None:
            raise NotFound(
                "this request has no key: this port serves only programs of jobs, "
                "which send the key from their environment"
            )
        if await check_key(self._access, path, given):
            return lead_to_key(scope, given)
        return {**scope, PROGRAM: await in_thread(self._check_call, given)}
