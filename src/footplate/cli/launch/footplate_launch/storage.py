"""Patches google.cloud.storage: its client uses Footplate."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING

from .auth import anonymous

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from .endpoint import Endpoint


def patch_client(module: ModuleType, endpoint: Endpoint) -> None:
    original = module.Client.__init__
    signature = inspect.signature(original)

    @functools.wraps(original)
    def init(self: object, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        for name in ("_http", "api_key"):
            bound.arguments.pop(name, None)
        bound.arguments["credentials"] = anonymous()
        bound.arguments["client_options"] = {"api_endpoint": endpoint.url}
        bound.arguments.setdefault("project", endpoint.project)
        original(*bound.args, **bound.kwargs)

    module.Client.__init__ = init
