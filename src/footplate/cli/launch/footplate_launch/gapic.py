"""Patches google.cloud.aiplatform: every client speaks with Footplate.

Over gRPC where the server has a port for it, unless the program asks for REST; else over REST.
"""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING

from .auth import anonymous
from .google_hosts import RealServiceRefused, is_google

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from .endpoint import Endpoint


REST = "rest"
_PROJECT_NUMBER = "0"
"""Of all projects, as the service says it."""


def patch_clients(module: ModuleType, endpoint: Endpoint) -> None:
    """``aiplatform_v1.services.*.client``: the one class there that is a client."""
    for name, kind in list(vars(module).items()):
        own = inspect.isclass(kind) and kind.__module__ == module.__name__
        if own and name.endswith("Client") and hasattr(kind, "get_transport_class"):
            _patch_class(kind, endpoint)


def _patch_class(kind: Any, endpoint: Endpoint) -> None:
    original = kind.__init__

    @functools.wraps(original)
    def init(self: object, *args: Any, **kwargs: Any) -> None:
        # Imported here: only programs that use Google's clients have it.
        from google.api_core.client_options import ClientOptions

        arguments = inspect.signature(original).bind(self, *args, **kwargs).arguments
        transport = arguments.get("transport")
        if _elsewhere(transport):
            original(self, *args, **kwargs)
            return
        chosen = _choose_transport(kind, transport, grpc=bool(endpoint.grpc))
        address = endpoint.url if chosen == REST else endpoint.grpc
        kept = {"client_info": arguments["client_info"]} if "client_info" in arguments else {}
        original(
            self,
            credentials=anonymous(),
            transport=chosen,
            client_options=ClientOptions(api_endpoint=address),
            **kept,
        )

    kind.__init__ = init


def _elsewhere(transport: Any) -> bool:
    """A transport made by the program that leads to no Google host, such as to a stand-in."""
    if transport is None or isinstance(transport, str) or inspect.isclass(transport):
        return False
    host = str(getattr(transport, "host", ""))
    return bool(host) and not is_google(host.rpartition("//")[2].partition(":")[0])


def _choose_transport(kind: Any, transport: Any, *, grpc: bool) -> str:
    """The name of the one to use in place of ``transport``: a name, a class, an object, None."""
    named = transport if isinstance(transport, str) or inspect.isclass(transport) else None
    name = str(named if named is not None else type(transport).__name__).lower()
    over_rest = REST in name
    if grpc and not over_rest:
        return "grpc_asyncio" if "asyncio" in name else "grpc"
    if "asyncio" in name:
        raise RealServiceRefused(
            f"footplate run: {kind.__name__} was made for asyncio, over gRPC, and this server has "
            "no gRPC port: set grpc_port, or use the client without Async in its name"
        )
    try:
        kind.get_transport_class(REST)
    except KeyError:
        raise RealServiceRefused(
            f"footplate run: this {kind.__name__} knows gRPC only, and this server has no gRPC "
            "port: set grpc_port, or install google-cloud-aiplatform 1.43 or later"
        ) from None
    return REST


def patch_project_numbers(module: ModuleType, _endpoint: Endpoint) -> None:
    """``utils.resource_manager_utils``: numbers of projects come from a service that isn't here."""

    def get_project_id(project_number: str, *_args: object, **_kwargs: object) -> str:
        return project_number

    def get_project_number(*_args: object, **_kwargs: object) -> str:
        return _PROJECT_NUMBER

    for function in (get_project_id, get_project_number):
        if hasattr(module, function.__name__):
            setattr(module, function.__name__, function)
