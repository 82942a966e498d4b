"""Loads the gRPC port, whose packages are an extra."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, cast

from footplate.domain.errors import InvalidArgument, Violation

if TYPE_CHECKING:
    from types import ModuleType

    from footplate.server.grpc_listener import GrpcListener

LISTENER = "footplate.server.grpc_listener"
_PACKAGES = frozenset({"cryptography", "google", "grpc"})


def load_listener(port: int) -> type[GrpcListener]:
    """Raises InvalidArgument: the packages of the extra are not installed."""
    try:
        module: ModuleType = importlib.import_module(LISTENER)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in _PACKAGES:
            raise
        rule = (
            f"{port} given, and the package {error.name} is not installed; "
            "pip install 'footplate[grpc]', or leave the setting out"
        )
        raise InvalidArgument.of((Violation("grpc_port", rule),)) from None
    return cast("type[GrpcListener]", module.GrpcListener)
