"""The container engine that the settings name."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING

from footplate.container_engine.discovery import EngineFinder
from footplate.server.orphaned_containers import OrphanedContainers

if TYPE_CHECKING:
    from footplate.server.data_dir import DataDir
    from footplate.settings import Settings


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
        """For one term."""
        return OrphanedContainers(self._finder, self._service, self._used)
