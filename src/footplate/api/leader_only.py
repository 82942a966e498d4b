"""Middleware for requests that only the leader serves, on a server that is not the leader.

Supervisors talk to the leader. Here they get 503 on a connection that is closed, and so look again
where it is. Users who want something of a running replica are sent there.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from urllib.parse import urlsplit

from starlette.datastructures import URL
from starlette.responses import RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from footplate.api.errors import error_response
from footplate.domain.errors import NotLeading

RETRY_S = 1
_SUPERVISORS = "/replica/"
_SHELLS = ("/shell/", "/terminal/")
_OURS, _STACKS = "/footplate/", ":stacks"


class LeaderOnly:
    """Middleware that redirects calls to the leader.

    ``url`` returns the leader's address on this machine; None if no server leads.
    """

    def __init__(
        self, app: ASGIApp, leads: Callable[[], bool], url: Callable[[], str | None]
    ) -> None:
        self._app = app
        self._leads = leads
        self._url = url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope.get("path", "")
        if not _needs_leader(path) or self._leads():
            await self._app(scope, receive, send)
            return
        answer = _refuse() if path.startswith(_SUPERVISORS) else self._redirect(scope)
        await answer(scope, receive, send)

    def _redirect(self, scope: Scope) -> Response:
        """Returns a redirect to the leader's port; all servers run on the same machine."""
        leader = self._url()
        if leader is None:
            return _refuse()
        there = URL(scope=scope).replace(port=urlsplit(leader).port)
        return RedirectResponse(str(there), HTTPStatus.TEMPORARY_REDIRECT)


def _needs_leader(path: str) -> bool:
    asks_for_stacks = path.startswith(_OURS) and path.endswith(_STACKS)  # objects have any name
    return asks_for_stacks or path.startswith((_SUPERVISORS, *_SHELLS))


def _refuse() -> Response:
    error = NotLeading(
        "another server leads this service, or none leads yet; try again in a few seconds"
    )
    return error_response(error, {"retry-after": str(RETRY_S), "connection": "close"})
