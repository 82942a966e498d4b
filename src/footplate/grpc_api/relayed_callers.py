"""Finds the caller whose connection the proxy relays to the gRPC port, by its own end's address."""

from __future__ import annotations

from dataclasses import dataclass

from starlette.types import ASGIApp

from footplate.grpc_api.asgi_call import Address


@dataclass(frozen=True)
class RelayedCaller:
    """A caller whose connection the proxy relays. ``client`` and ``server`` are its ends at the
    proxy.

    ``authorization`` replaces the header that the caller sends; None keeps that. ``app`` answers
    the calls; None means that of the port.
    """

    client: Address
    server: Address
    authorization: str | None
    app: ASGIApp | None = None


RelayedCallers = dict["Address", RelayedCaller]
"""An entry exists as long as its connection. Used in the server's event loop alone."""
