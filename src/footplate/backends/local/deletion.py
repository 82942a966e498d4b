"""Deletes directories in the background, however their last owner left them."""

from __future__ import annotations

import logging
import os
import threading
from itertools import count
from typing import TYPE_CHECKING

from footplate.backends.local.directory_removal import empty

if TYPE_CHECKING:
    from pathlib import Path

log = logging.getLogger(__name__)


class DeletionQueue:
    """Renames a directory at once, and deletes it on a background thread.

    What it holds is tried again when the next thing is thrown in, and by the next server.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wake = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Begin to remove, also what an earlier server left."""
        if self._thread is None:
            self._path.mkdir(mode=0o700, exist_ok=True)
            self._thread = threading.Thread(target=self._work, name="deletion", daemon=True)
            self._thread.start()
            self._wake.set()

    def enqueue(self, directory: Path) -> None:
        """Raises:
        OSError: it can't be moved.
        """
        self._path.mkdir(mode=0o700, exist_ok=True)
        for number in count():
            try:
                directory.rename(self._path / f"{directory.name}.{number}")
                break
            except FileNotFoundError:
                return
            except OSError:
                if not os.path.lexists(self._path / f"{directory.name}.{number}"):
                    raise
        self._wake.set()

    def close(self) -> None:
        self._closed = True
        self._wake.set()
        if self._thread is not None:
            self._thread.join()

    def _work(self) -> None:
        while not self._closed:
            self._wake.wait()
            self._wake.clear()
            try:
                for left in empty(self._path, lambda: self._closed):
                    log.warning("can't remove %s", self._path / left)
            except OSError:
                log.warning("can't empty %s", self._path, exc_info=True)
