"""The container engine that the settings name, and the removal of its orphaned containers."""

from __future__ import annotations

import logging
import os
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.containers.discovery import FoundEngine, candidates, find_engine
from footplate.containers.engine_api import Engine, EngineError
from footplate.containers.leftovers import remove_leftovers
from footplate.control.control_loop import Loop
from footplate.domain.errors import FailedPrecondition

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from footplate.server.data_dir import DataDir
    from footplate.settings import Settings


CACHE_TTL_S = 5.0
GONE = "gone"
"""The file that the directory of a replica that has ended holds, until it is removed."""
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
                removed, faults = remove_leftovers(Engine(engine.socket), self._service, _has_ended)
            except (OSError, EngineError) as error:
                _log.warning("containers of ended replicas can't be removed: %s", error)
                return
            if removed:
                _log.info("removed %d containers of replicas that have ended", removed)
            for fault in faults:
                _log.warning("the engine can't remove %s", fault)


def _has_ended(home: str) -> bool:
    """Returns whether the replica there has ended. Raises OSError: nobody knows now."""
    return not Path(home).is_dir() or Path(home, GONE).exists()


class EngineFinder:
    """Finds the engine, at each submit of a container job, from any thread."""

    def __init__(
        self,
        setting: str | None,
        environ: Mapping[str, str],
        clock: Callable[[], float] = time.monotonic,
        find: Callable[[str | None, Mapping[str, str]], FoundEngine] = find_engine,
    ) -> None:
        self._setting = setting
        self._environ = environ
        self._clock = clock
        self._find = find
        self._lock = threading.Lock()
        self._found: tuple[float, FoundEngine] | None = None
        self._last = ""

    def socket(self) -> str:
        """Implements the port. Raises FailedPrecondition."""
        found = self()
        if found.socket is None:
            raise FailedPrecondition(found.problem)
        return found.socket

    def expected_socket(self) -> str:
        """Implements the port: the last one that answered, or the one that is named."""
        named = candidates(self._setting, self._environ, os.getuid())
        return self._last or (named.paths[0] if named.named_by else "")

    def __call__(self) -> FoundEngine:
        """Finds the engine, anew if it was missing; one found a few seconds ago counts."""
        with self._lock:
            now = self._clock()
            if self._found is None or now - self._found[0] >= CACHE_TTL_S:
                found = self._find(self._setting, self._environ)
                self._found = (now, found) if found.socket else None
                self._last = found.socket or self._last
                return found
            return self._found[1]


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
