"""Counts requests by method of the API, client and status: who uses what, and what is refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from starlette.datastructures import Headers
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.api.client_names import Client, find_client

NO_ROUTE = "none"
"""The route of a request that belongs to no method."""
_MAX_CLIENTS = 100
"""Versions are what clients say: those beyond are counted without."""


@dataclass(frozen=True)
class Request:
    """The key of a count of requests. ``route`` is the route's path, with variables in braces."""

    verb: str
    route: str
    client: Client
    status: int


class RequestCounts:
    """The counts of requests. The event loop's thread writes them; any thread may ``read``."""

    def __init__(self) -> None:
        self._counts: Counter[Request] = Counter()
        self._clients: set[Client] = set()

    def add(self, verb: str, route: str, client: Client, status: int) -> None:
        if client not in self._clients:
            if len(self._clients) >= _MAX_CLIENTS:
                client = Client(client.name, "", client.grpc)
            else:
                self._clients.add(client)
        self._counts[Request(verb, route, client, status)] += 1

    def read(self) -> Mapping[Request, int]:
        return dict(self._counts)


class CountRequests:
    """Middleware that counts requests. Requests refused before it aren't counted."""

    def __init__(self, app: ASGIApp, counts: RequestCounts, routes: Sequence[BaseRoute]) -> None:
        self._app = app
        self._counts = counts
        self._paths = {
            getattr(route, "endpoint", None): str(getattr(route, "path", NO_ROUTE))
            for route in routes
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def count(message: Message) -> None:
            if message["type"] == "http.response.start":
                route = self._paths.get(scope.get("endpoint"), NO_ROUTE)
                client = find_client(Headers(scope=scope))
                self._counts.add(scope["method"], route, client, message["status"])
            await send(message)

        await self._app(scope, receive, count)
