"""Resolves the packages of programs as their replicas would, and installs none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO, Protocol

from footplate.domain.runtimes import Runtime


@dataclass(frozen=True)
class EnvironmentRequest:
    """The things that determine a program's environment; ``packages`` are URIs.

    ``slice`` is the slice that the job names, or empty. ``gpus``: the program has GPUs.
    """

    runtime: Runtime
    module: str
    packages: tuple[str, ...]
    slice: str = ""
    gpus: bool = False


@dataclass(frozen=True)
class Resolution:
    """The result of resolving: ``added`` are the requirements in addition to the runtime's.

    ``error`` says why the environment can't be made; empty: it can.
    """

    added: tuple[str, ...] = ()
    error: str = ""


class PackageResolver(Protocol):
    async def resolve(
        self, request: EnvironmentRequest, open_package: Callable[[str], BinaryIO]
    ) -> Resolution:
        """Resolves packages; a cancelled call leaves no process behind.

        Raises:
            DeadlineExceeded: resolving takes too long.
            Unavailable: resolving isn't possible here and now.
            NotFound: a package doesn't exist.
        """
        ...
