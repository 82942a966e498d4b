"""Resolves the packages of programs as their replicas would, and installs none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.domain.runtimes import Runtime


@dataclass(frozen=True)
class EnvironmentRequest:
    """The things that a program's environment is made from; ``packages`` are URIs.

    ``slice``: the one that the job names, or empty. ``gpus``: the program finds GPUs.
    """

    runtime: Runtime
    module: str
    packages: tuple[str, ...]
    slice: str = ""
    gpus: bool = False


@dataclass(frozen=True)
class Resolution:
    """``added``: requirements beside the runtime; ``error``: why there can be no environment."""

    added: tuple[str, ...] = ()
    error: str = ""


class PackageResolver(Protocol):
    async def resolve(
        self, request: EnvironmentRequest, open_package: Callable[[str], BinaryIO]
    ) -> Resolution:
        """Resolves packages; a cancelled call leaves no process behind.

        Raises:
            DeadlineExceeded: it takes too long.
            Unavailable: it can't be tried here and now.
            NotFound: a package is not there.
        """
        ...
