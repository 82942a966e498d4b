"""Loads the ports for gRPC and the proxy, whose packages are an extra."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from footplate.domain.errors import InvalidArgument, Violation

if TYPE_CHECKING:
    from types import ModuleType

    from footplate.server.tls_listeners import TlsListeners
    from footplate.settings import Settings

LISTENERS = "footplate.server.tls_listeners"
_PACKAGES = frozenset({"cryptography", "google", "grpc"})


def load_listeners(settings: Settings) -> type[TlsListeners] | None:
    """None: neither port is set. Raises InvalidArgument: the packages are not installed."""
    if not settings.serves_grpc:
        return None
    try:
        module: ModuleType = importlib.import_module(LISTENERS)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        name = "proxy_port" if settings.grpc_port is None else "grpc_port"
        rule = (
            f"{getattr(settings, name)} given, and the package {error.name} is not installed; "
            "pip install 'footplate[grpc]', or leave the setting out"
        )
        raise InvalidArgument.of((Violation(name, rule),)) from None
    return cast("type[TlsListeners]", module.TlsListeners)
