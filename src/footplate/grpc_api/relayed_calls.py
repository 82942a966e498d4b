"""Finds the caller whose connection the proxy relays to the gRPC port, by its own end's address."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from footplate.grpc_api.asgi_call import Address


@dataclass(frozen=True)
class RelayedCaller:
    """``client`` and ``server`` are the ends of the caller's connection to the proxy.

    ``authorization`` replaces what the caller sends; None: nothing does. ``app`` answers him; None:
    that of the port.
    """

    client: Address
    server: Address
    authorization: str | None
    app: ASGIApp | None = None


RelayedCallers = dict["Address", RelayedCaller]
"""An entry exists as long as its connection. Used in the server's event loop alone."""
