"""The container engine that the settings name, and the removal of its orphaned containers."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.containers.discovery import FoundEngine, candidates, find_engine
from footplate.containers.engine_api import Engine, EngineError
from footplate.containers.leftovers import remove_leftovers
from footplate.control.control_loop import Loop
from footplate.domain.errors import FailedPrecondition
from footplate.server.data_dir import DataDir

if TYPE_CHECKING:
    from footplate.settings import Settings


CACHE_TTL_S = 5.0
GONE = "gone"
"""The file that the directory of a replica that has ended holds, until it is removed."""
_log = logging.getLogger(__name__)


class OrphanedContainers:
    """Removes orphaned containers during one term.

    It doesn't ask the engine before the first container job, since a request starts some engines.
    ``close`` must be called once, even without a ``start``.
    """

    def __init__(self, find: Callable[[], FoundEngine], service: str, marker: Path) -> None:
        """Creates the cleanup, not started. The file ``marker`` exists after the first container
        job.
        """
        self._find = find
        self._service = service
        self._marker = marker
        self._loop = Loop(self.maintain, "containers")

    def start(self) -> None:
        self._loop.start()

    def close(self) -> None:
        self._loop.close()

    def maintain(self) -> None:
        """Removes orphaned containers; the next pass retries if the engine doesn't answer."""
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
    """Returns whether the replica there has ended. Raises OSError if that can't be determined."""
    return not Path(home).is_dir() or Path(home, GONE).exists()


class EngineFinder:
    """Finds the engine, at each submit of a container job. Any thread may use it."""

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
        """Returns the engine's socket. Raises FailedPrecondition if there is no engine."""
        found = self()
        if found.socket is None:
            raise FailedPrecondition(found.problem)
        return found.socket

    def expected_socket(self) -> str:
        """Returns the last socket that answered, or the one that is configured."""
        named = candidates(self._setting, self._environ, os.getuid())
        return self._last or (named.paths[0] if named.named_by else "")

    def __call__(self) -> FoundEngine:
        """Returns the engine; searches again if it was missing, or found too long ago."""
        with self._lock:
            now = self._clock()
            if self._found is None or now - self._found[0] >= CACHE_TTL_S:
                found = self._find(self._setting, self._environ)
                self._found = (now, found) if found.socket else None
                self._last = found.socket or self._last
                return found
            return self._found[1]


class ServiceEngine:
    """The container engine, with a record of whether jobs of this data directory have used it."""

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
        """Returns the orphaned containers of one term."""
        return OrphanedContainers(self._finder, self._service, self._used)
