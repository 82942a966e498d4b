"""The container engine that the settings name, and the removal of its orphaned containers."""

from __future__ import annotations

import logging
import os
from contextlib import suppress
from typing import TYPE_CHECKING

from footplate.container_engine.discovery import EngineFinder
from footplate.container_engine.orphaned_containers import remove_leftovers
from footplate.control.control_loop import Loop

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from footplate.container_engine.discovery import FoundEngine
    from footplate.server.data_dir import DataDir
    from footplate.settings import Settings


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
        """Takes one look. An engine that is away, or broken, is asked again with the next pass."""
        if not self._marker.exists():
            return
        engine = self._find()
        if engine.socket is not None:
            try:
                if removed := remove_leftovers(engine.socket, self._service):
                    _log.info("removed %d containers of replicas that have ended", removed)
            except OSError as error:
                _log.warning("containers of ended replicas can't be removed: %s", error)


class ServiceEngine:
    """The engine, and the memory that a job of this data directory has needed it."""

    def __init__(self, settings: Settings, data_dir: DataDir) -> None:
        self._finder = EngineFinder(settings.container_engine, os.environ)
        self._used = data_dir.root / "containers"
        self._service = data_dir.identity().id

    def socket(self) -> str:
        path = self._finder.socket()
        with suppress(OSError):  # the disk is full: jobs are refused then
            self._used.touch(mode=0o600)
        return path

    def expected_socket(self) -> str:
        return self._finder.expected_socket()

    def leftovers(self) -> OrphanedContainers:
        """Makes the orphaned containers of one term."""
        return OrphanedContainers(self._finder, self._service, self._used)
