"""Refuses calls from the programs of jobs, whatever they show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from starlette.types import ASGIApp, Receive, Scope, Send

from footplate.api.security import Access, check_key, given_token, is_open_to_programs, lead_to_key
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import PermissionDenied
from footplate.wire.scope_keys import NAME_USER, PEER, PROGRAM

_CHECKED = ("http", "websocket")
Peer = tuple[str, int]


class ProgramCallCheck:
    """Middleware that checks which calls of programs are allowed.

    ``check`` returns the job whose program owns a connection, given its two ends; '' for a user's
    connection. It raises PermissionDenied if the program may not call. Paths with keys of their own
    aren't checked here, and a program's key opens the buckets. The console's pages are checked,
    since their cookie belongs to a person.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        check: Callable[[Peer, Peer], str],
        name_user: Callable[[Peer, Peer], str] = lambda *_: "",
    ) -> None:
        """Creates the middleware. ``name_user`` names the user of a connection of no program."""
        self._app = app
        self._access = access
        self._check = check
        self._name_user = name_user

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in _CHECKED and not is_open_to_programs(scope["path"]):
            client, server = scope.get(PEER) or scope.get("client"), scope.get("server")
            if not client or not server or server[1] is None:
                raise PermissionDenied(
                    "the connection of this call has no addresses, so the server can't tell "
                    "whether the caller is a job's program"
                )
            try:
                job = await in_thread(self._check, tuple(client), tuple(server))
                if job:
                    scope = {**scope, PROGRAM: job}
                else:
                    scope = {**scope, NAME_USER: self._user(scope, tuple(client), tuple(server))}
            except PermissionDenied:
                given = given_token(scope)
                if given is None or not await check_key(self._access, scope["path"], given):
                    raise
                scope = lead_to_key(scope, given)
        await self._app(scope, receive, send)

    def _user(self, scope: Scope, peer: Peer, server: Peer) -> Callable[[], str]:
        """Returns a function that names the user; behind a local proxy, the client's address."""
        client = scope.get("client")
        if client and client[0] != peer[0]:
            return partial(str, client[0])
        return partial(self._name_user, peer, server)
