"""Lists all environments of a cache: size, last use, and removal."""

from __future__ import annotations

import json
import os
import re
import time

from footplate.replica import cache_locks, kept_environments
from footplate.replica.environment.build_record import BuildRecord
from footplate.replica.environment.cache_removal import empty_trash, remove, set_aside
from footplate.replica.environment.disk_usage import measure
from footplate.replica.environment.eviction import Entry, EvictionPolicy, choose

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Collection

KINDS = ("layers", "runtimes")
_KEY = re.compile(r"[0-9a-f]{32}")


class CacheEntry:
    """An environment of the cache; ``record`` is its builder's, empty if there is none."""

    def __init__(self, path: str, record: BuildRecord, entry: Entry) -> None:
        self.path = path
        self.record = record
        self.entry = entry


class Pruned:
    """The outcome of a removal."""

    def __init__(self) -> None:
        self.removed: list[CacheEntry] = []
        self.kept: list[CacheEntry] = []
        """Somebody began to use these meanwhile."""

    @property
    def freed_bytes(self) -> int:
        return sum(found.entry.size_bytes for found in self.removed)


class Cache:
    """The cache of environments. Any number of processes can build, use and remove them at once."""

    def __init__(self, root: str) -> None:
        self.root = os.path.realpath(root)

    def look(self) -> list[CacheEntry]:
        """Returns all entries, with the sizes recorded when they were built."""
        kept = kept_environments.kept(self.root)
        return [
            found
            for kind in KINDS
            for name in _names(os.path.join(self.root, kind))
            if (found := self._inspect(kind, name, kept)) is not None
        ]

    def clear_up(self) -> None:
        """Removes what is left of environments that other processes began to remove."""
        for kind in KINDS:
            empty_trash(os.path.join(self.root, kind))

    def plan(
        self, policy: EvictionPolicy, clock: Callable[[], float] = time.time
    ) -> list[CacheEntry]:
        """Returns the entries that ``prune`` would remove now."""
        found = {(f.entry.kind, f.entry.key): f for f in self.look()}
        chosen = choose([f.entry for f in found.values()], policy, clock())
        return [found[entry.kind, entry.key] for entry in chosen]

    def prune(self, policy: EvictionPolicy, clock: Callable[[], float] = time.time) -> Pruned:
        """Removes the entries that the policy chooses. Raises OSError."""
        self.clear_up()
        pruned = Pruned()
        for found in self.plan(policy, clock):
            (pruned.removed if self._remove(found) else pruned.kept).append(found)
        return pruned

    def remove(self, uses: Collection[str]) -> None:
        """Removes the environments named, like ``layers/KEY``, except those in use. Raises
        OSError.
        """
        for found in self.look():
            if f"{found.entry.kind}/{found.entry.key}" in uses:
                self._remove(found)

    def _inspect(self, kind: str, key: str, kept: Collection[str]) -> CacheEntry | None:
        path = os.path.join(self.root, kind, key)
        record = _read(path)
        useless = record is None or record.path not in ("", path)
        try:
            used_at, in_use = _use_of(path)
        except OSError:  # nobody may remove it now
            return None
        record = record or BuildRecord()
        size_bytes = measure(path) if record.bytes is None else record.bytes
        stays = f"{kind}/{key}" in kept
        entry = Entry(kind, key, size_bytes, used_at, in_use=in_use, kept=stays, useless=useless)
        return CacheEntry(path, record, entry)

    def _remove(self, found: CacheEntry) -> bool:
        descriptor = cache_locks.open_lock(found.path)
        try:
            if not cache_locks.try_alone(descriptor):
                return False
            aside = set_aside(found.path)
        finally:
            os.close(descriptor)
        # Outside the lock: the rename has made room for a new build of the same key, which needn't
        # wait until thousands of files are deleted.
        remove(aside)
        return True


def _names(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            found = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in found if _KEY.fullmatch(name))


def _read(path: str) -> BuildRecord | None:
    """Returns the record of a build; None if nobody has finished it."""
    try:
        with open(os.path.join(path, cache_locks.MARKER), encoding="utf-8") as file:
            return BuildRecord.decode(json.load(file))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


def _use_of(path: str) -> tuple[float, bool]:
    """Returns when the environment was used last, and whether it is in use now. Raises OSError."""
    try:
        descriptor = os.open(f"{path}.lock", os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:  # in use
        return os.stat(path).st_mtime, False
    try:
        return os.fstat(descriptor).st_mtime, not cache_locks.try_alone(descriptor)
    finally:
        os.close(descriptor)
