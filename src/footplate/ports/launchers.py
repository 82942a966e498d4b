"""The port of launchers: programs on the nodes of an engine that start supervisors there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from footplate.domain.launchers import LauncherAnswer, LauncherReport


class Launchers(Protocol):
    """The calls of all regions' launchers; any server with the data directory can answer them."""

    def exchange(self, token: str, report: LauncherReport) -> LauncherAnswer:
        """Takes in a report; the answer says what is wanted, for as long as it isn't done.

        Raises:
            PermissionDenied: the token isn't one of ours.
            Unavailable: the report can't be kept now.
        """
        ...

    def hold(self, token: str, wake: Callable[[], None]) -> Callable[[], None]:
        """Calls ``wake``, on any thread, when an answer may have changed; returns what ends it."""
        ...

    def archive(self, token: str, digest: str) -> Path:
        """Returns the file with this SHA-256 that launchers run.

        Raises:
            PermissionDenied: the token isn't one of ours.
            NotFound: there is no such file.
        """
        ...
