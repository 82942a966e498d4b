"""The environments in the cache that persistent resources keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.replica import kept_environments
from footplate.replica.environment.cache import Cache

if TYPE_CHECKING:
    from pathlib import Path


class KeptInCache:
    """Implements control.resource_steps.KeptEnvironments."""

    def __init__(self, cache: Path) -> None:
        self._cache = str(cache)

    def release(self, uid: str) -> None:
        kept_environments.release(self._cache, uid)

    def remove(self, uid: str) -> None:
        own = kept_environments.kept_by(self._cache, uid)
        others = kept_environments.kept(self._cache, but=uid)
        Cache(self._cache).remove(own - others)
        kept_environments.release(self._cache, uid)
