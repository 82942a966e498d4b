"""Believes what reverse proxies say of their clients, and nobody else."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from footplate.wire.scope_keys import PEER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

_LOOPBACK = ["127.0.0.1", "::1"]
_CLIENT = b"x-forwarded-for"


class ForwardedHeaders:
    """Middleware that applies proxies' headers. Only proxies may name the client in
    ``X-Forwarded-For``.

    ``X-Forwarded-Proto``, which affects only the addresses in the caller's own answer, is accepted
    from all of this machine. ``PEER`` in the scope is the connection's real peer.
    """

    def __init__(self, app: ASGIApp, proxies: Sequence[str]) -> None:
        # uvicorn's types and Starlette's are the same in other words.
        self._of_proxies = ProxyHeadersMiddleware(cast("object", app), list(proxies))  # type: ignore[arg-type]
        self._of_others = ProxyHeadersMiddleware(cast("object", app), _LOOPBACK)  # type: ignore[arg-type]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        client = scope.get("client")
        scope = {**scope, PEER: client}
        if client and client[0] in self._of_proxies.trusted_hosts:
            await self._of_proxies(scope, receive, send)  # type: ignore[arg-type]
            return
        headers = [line for line in scope.get("headers", ()) if line[0] != _CLIENT]
        await self._of_others({**scope, "headers": headers}, receive, send)  # type: ignore[arg-type]
