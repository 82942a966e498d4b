"""The port of this machine: what it enforces of programs, and the environments in its cache."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime


@dataclass(frozen=True)
class EnforcedLimit:
    """``subject`` is what is limited, ``text`` how; or, if it isn't ``enforced``, why not."""

    subject: str
    text: str
    enforced: bool


@dataclass(frozen=True)
class CachedEnvironment:
    """A runtime that is built, or a layer of ``packages`` above one.

    ``slice`` and ``python`` are empty for a layer. ``kept``: a persistent resource keeps it.
    ``complete``: a build that was ended leaves one that is not.
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
    """``limit_bytes`` 0: there is none."""

    path: str
    limit_bytes: int
    free_bytes: int
    environments: tuple[CachedEnvironment, ...]


class Machine(Protocol):
    def limits(self) -> Sequence[EnforcedLimit]:
        """Returns what programs are limited to; may take a second when it is first asked."""
        ...

    def cache(self) -> EnvironmentCache:
        """Returns the environments, last used first."""
        ...
