"""Blocks grpc channels to Google, because grpc connects in C where Python hooks do not see it."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from .google_hosts import check_target

if TYPE_CHECKING:
    from types import ModuleType
    from typing import Any

    from .endpoint import Endpoint


def patch_channel(module: ModuleType, _endpoint: Endpoint) -> None:
    """``grpc._channel`` and ``grpc.aio._channel``: what every way to a channel ends in."""
    original = module.Channel.__init__

    @functools.wraps(original)
    def init(self: object, target: Any, *args: Any, **kwargs: Any) -> None:
        check_target(target.decode() if isinstance(target, bytes) else str(target))
        original(self, target, *args, **kwargs)

    module.Channel.__init__ = init
