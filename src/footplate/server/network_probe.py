"""Finds out whether this machine supports the configured network isolation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.server.isolation_probe import ask_supervisor

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from footplate.settings import Settings

_REMEDY = (
    "namespaces need Linux, root, and the command ip (package iproute2); "
    "or keep to 'shared', where each replica has a port of its own"
)


def describe_network(
    settings: Settings,
    ask: Callable[[Settings, str, str], Mapping[str, object]] = ask_supervisor,
) -> tuple[str, ...]:
    """What one should know of the replicas' network, found by trying; nothing of a shared one.

    Raises:
        InvalidArgument: it can't be had here; says why, and what to do.
    """
    if settings.network == "shared":
        return ()
    told = ask(settings, "probe-network", settings.network)
    fault = told.get("fault", "it couldn't be tried")
    if fault:
        text = f"{settings.network!r} given, and this machine can't: {fault}; {_REMEDY}"
        raise InvalidArgument.of((Violation("network", text),))
    first = "each replica of a gang has an address and port 2222 of its own"
    outside = told.get("outside")
    if isinstance(outside, list) and outside:
        return (f"{first}; their programs can't reach the outside: {'; '.join(outside)}",)
    return (first,)
