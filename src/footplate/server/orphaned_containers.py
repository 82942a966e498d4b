"""Removes orphaned containers periodically."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from footplate.container_engine.orphaned_containers import remove_leftovers
from footplate.control.control_loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from footplate.container_engine.discovery import FoundEngine

_log = logging.getLogger(__name__)


class OrphanedContainers:
    """Asks no engine before there was a container job: some are started by being asked.

    Each term has its own. ``close`` comes once, also without a ``start``.
    """

    def __init__(self, find: Callable[[], FoundEngine], service: str, marker: Path) -> None:
        """``marker`` is a file that remembers over restarts that there was a container job."""
        self._find = find
        self._service = service
        self._marker = marker
        self._loop = Loop(self.maintain, "containers")

    def start(self) -> None:
        self._loop.start()

    def close(self) -> None:
        self._loop.close()

    def maintain(self) -> None:
        """One look. An engine that is away, or broken, is asked again with the next pass."""
        if not self._marker.exists():
            return
        engine = self._find()
        if engine.socket is not None:
            try:
                if removed := remove_leftovers(engine.socket, self._service):
                    _log.info("removed %d containers of replicas that have ended", removed)
            except OSError as error:
                _log.warning("containers of ended replicas can't be removed: %s", error)
