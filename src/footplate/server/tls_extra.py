"""Loads what needs the packages of the extra ``grpc``: the ports for gRPC, the proxy, launchers."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from footplate.domain.errors import InvalidArgument, Violation

if TYPE_CHECKING:
    from types import ModuleType

    from footplate.server.cluster_listener import ClusterListener
    from footplate.server.tls_listeners import TlsListeners
    from footplate.settings import Settings

LISTENERS = "footplate.server.tls_listeners"
CLUSTER_LISTENER = "footplate.server.cluster_listener"
_PACKAGES = frozenset({"cryptography", "google", "grpc"})


def load_listeners(settings: Settings) -> type[TlsListeners] | None:
    """None: neither port is set. Raises InvalidArgument: the packages are not installed."""
    if not settings.serves_grpc:
        return None
    name = "proxy_port" if settings.grpc_port is None else "grpc_port"
    module = _load(LISTENERS, name, str(getattr(settings, name)))
    return cast("type[TlsListeners]", module.TlsListeners)


def load_cluster_listener(settings: Settings) -> type[ClusterListener] | None:
    """None: no address is set. Raises InvalidArgument: the packages are not installed."""
    if settings.cluster_address is None:
        return None
    host, port = settings.cluster_address
    module = _load(CLUSTER_LISTENER, "cluster_address", f"{host}:{port}")
    return cast("type[ClusterListener]", module.ClusterListener)


def _load(module: str, name: str, given: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        rule = (
            f"{given} given, and the package {error.name} is not installed; "
            "pip install 'footplate[grpc]', or leave the setting out"
        )
        raise InvalidArgument.of((Violation(name, rule),)) from None
