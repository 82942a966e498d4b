"""The port of this machine: what it enforces of programs, and the environments in its cache."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol


@dataclass(frozen=True)
class EnforcedLimit:
    """A limit for programs.

    ``subject`` is what is limited, ``text`` how; or, if it isn't ``enforced``, why not.
    """

    subject: str
    text: str
    enforced: bool


@dataclass(frozen=True)
class CachedEnvironment:
    """A runtime in the cache, or a layer of ``packages`` on top of one.

    ``slice`` and ``python`` are empty for a layer. ``kept``: a persistent resource keeps the
    environment. ``complete`` is false if its build was interrupted.
    """

    kind: str
    key: str
    runtime: str
    slice: str
    python: str
    packages: tuple[str, ...]
    size_bytes: int
    last_use_time: datetime
    in_use: bool
    kept: bool
    complete: bool


@dataclass(frozen=True)
class EnvironmentCache:
    """The cache of environments; ``limit_bytes`` is 0 if it has no limit."""

    path: str
    limit_bytes: int
    free_bytes: int
    environments: tuple[CachedEnvironment, ...]


class Machine(Protocol):
    def limits(self) -> Sequence[EnforcedLimit]:
        """Returns the limits for programs; the first call may take a second."""
        ...

    def cache(self) -> EnvironmentCache:
        """Returns the cache's environments, the last used first."""
        ...
