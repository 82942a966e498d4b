"""The port of launchers: programs on the nodes of an engine that start supervisors there."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from footplate.domain.launchers import LauncherReport
from footplate.protocol.launcher import LauncherAnswer


class Launchers(Protocol):
    """Answers launchers of all regions; any server with the data directory can do so."""

    def exchange(self, token: str, report: LauncherReport) -> LauncherAnswer:
        """Stores a report; the answer repeats what the launcher must do until it is done.

        Raises:
            PermissionDenied: the token isn't one of this service's.
            Unavailable: the report can't be stored now.
        """
        ...

    def hold(self, token: str, wake: Callable[[], None]) -> Callable[[], None]:
        """Calls ``wake``, on any thread, when the answer may have changed.

        Returns a function that ends this.
        """
        ...

    def look_s(self, token: str) -> float:
        """Returns after how many seconds a held question is to be answered anew, without a call of
        ``wake``: another server may have written what is wanted. Raises PermissionDenied.
        """
        ...

    def archive(self, token: str, digest: str) -> Path:
        """Returns the file, with this SHA-256, that launchers run.

        Raises:
            PermissionDenied: the token isn't one of this service's.
            NotFound: there is no such file.
        """
        ...
