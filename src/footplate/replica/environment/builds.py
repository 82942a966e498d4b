"""Directories that are built once and then shared, each under a key made from what goes in."""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Iterator

_MARKER = "complete.json"


def make_key(*parts: str) -> str:
    """A name for what these parts make together; no two lists of parts have the same."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class Built:
    """A finished directory, and what was written down about it."""

    def __init__(self, path: str, record: dict[str, Any]) -> None:
        self.path = path
        self.record = record


class Builds:
    """Built in place, for environments contain their own paths; complete with their marker.

    A build that was ended halfway has no marker, and is built anew by the next who wants it.
    The lock is inherited by the processes that build: while one is left, nobody else begins.
    """

    def __init__(self, root: str) -> None:
        self._root = root

    def find(self, key: str) -> Built | None:
        path = os.path.join(self._root, key)
        try:
            with open(os.path.join(path, _MARKER), encoding="utf-8") as file:
                return Built(path, json.load(file))
        except (FileNotFoundError, ValueError):
            return None

    def get(
        self, key: str, make: Callable[[str, int], dict[str, Any]], wait: Callable[[], None]
    ) -> Built:
        """The directory of ``key``; if it isn't there, made by ``make(path, lock)``.

        ``make`` makes ``path``, which doesn't exist, and returns what is to be written down;
        ``lock`` is a descriptor for its processes to inherit. ``wait`` is called before waiting
        for another process that makes the same.
        """
        built = self.find(key)
        if built is not None:
            return built
        with self._locked(key, wait) as lock:
            built = self.find(key)
            if built is None:
                path = os.path.join(self._root, key)
                shutil.rmtree(path, ignore_errors=True)
                try:
                    record = make(path, lock)
                    _complete(path, record)
                except BaseException:
                    shutil.rmtree(path, ignore_errors=True)
                    raise
                built = Built(path, record)
        return built

    @contextmanager
    def _locked(self, key: str, wait: Callable[[], None]) -> Iterator[int]:
        os.makedirs(self._root, exist_ok=True)
        name = os.path.join(self._root, f"{key}.lock")
        descriptor = os.open(name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                wait()
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield descriptor
        finally:
            os.close(descriptor)


def _complete(path: str, record: dict[str, Any]) -> None:
    marker = os.path.join(path, _MARKER)
    with open(f"{marker}.part", "w", encoding="utf-8") as file:
        json.dump(record, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{marker}.part", marker)
