"""A cache of directories that are built once, under a key made from their inputs."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import time

from footplate.replica import cache_locks
from footplate.replica.environment.build_record import BuildRecord
from footplate.replica.environment.cache_removal import discard
from footplate.replica.environment.disk_usage import measure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable

_CHANGED_INTERVAL_S = 0.5
_WRITE = stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH


def make_key(*parts: str) -> str:
    """Returns a key for the list of parts; no two lists have the same key."""
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:32]


class CompleteBuild:
    """A finished directory, with the record that its builder wrote."""

    def __init__(self, path: str, record: BuildRecord) -> None:
        self.path = path
        self.record = record

    @property
    def use(self) -> str:
        """The name within the cache, such as ``layers/KEY``."""
        return "/".join(self.path.split(os.sep)[-2:])


class BuildCache:
    """Builds in place, for environments contain their own paths; complete ones have a marker.

    A build that was ended halfway has no marker, and is built anew by the next who wants it.
    The lock is inherited by the processes that build: while one is left, nobody else begins.
    What is given out is kept from removal as long as this process lives, or until ``close``.
    """

    def __init__(self, root: str, job: str = "", *, exposed: bool = False) -> None:
        """Prepares a cache of builds in the directory ``root``.

        ``job`` is the replica's job, which other replicas that wait for a build are told. With
        ``exposed``, programs on this machine could change what is built: each build is compared
        before use with its state when it was completed, and is made anew if it was changed.
        """
        self.root = root
        self._job = job
        self._exposed = exposed
        self._held: dict[str, int] = {}
        self.made = 0
        """How many were built here, rather than found."""

    def hold(self, key: str) -> CompleteBuild | None:
        """Returns the build of ``key``, held by a shared lock; None if there is none."""
        if self._find(key) is None:  # what isn't there needs no lock
            return None
        descriptor = self._open(key)
        cache_locks.share(descriptor)
        built = self._keep(key, descriptor)
        if built is None:
            os.close(descriptor)
        return built

    def get(
        self,
        key: str,
        make: Callable[[str, int], BuildRecord],
        name: str,
        tell: Callable[[str], None],
    ) -> CompleteBuild:
        """Returns the directory of ``key``; ``make(path, lock)`` creates it if needed.

        ``make`` makes ``path``, which doesn't exist, and returns what is to be written down;
        ``lock`` is a descriptor for its processes to inherit. ``tell`` gets what is waited for;
        ``name`` is what users call what is made.
        """

        def wait() -> None:
            tell(f"waiting for {self._name_builder(descriptor)}, which makes {name}")

        os.makedirs(self.root, exist_ok=True)
        descriptor = self._open(key)
        told = False
        try:
            while True:
                if self._find(key) is None and cache_locks.try_alone(descriptor):
                    if self._read(key) is not None:
                        tell(f"{name} has changed since it was made: the service makes it again")
                    self._build(key, make, descriptor)
                # flock doesn't change an exclusive lock to a shared one in one step: another
                # process may remove the build in between. So it is looked for again.
                cache_locks.share(descriptor, wait)
                built = self._keep(key, descriptor)
                if built is not None:
                    return built
                cache_locks.release(descriptor)  # its builder failed, or it was removed just now
                if self._read(key) is not None:  # somebody uses what was changed
                    if not told:
                        tell(
                            f"{name} has changed since it was made: the service makes it again "
                            "when no program uses it"
                        )
                    told = True
                    time.sleep(_CHANGED_INTERVAL_S)
        except BaseException:
            os.close(descriptor)
            raise

    def _name_builder(self, descriptor: int) -> str:
        """Returns a phrase for the builder; other jobs aren't named, for they may be somebody
        else's.
        """
        if cache_locks.is_signed(descriptor, self._job):
            return "another replica or trial of this job"
        return "another job"

    def close(self) -> None:
        """Releases all builds in use."""
        while self._held:
            os.close(self._held.popitem()[1])

    def _find(self, key: str) -> CompleteBuild | None:
        """Returns a complete build; if programs could change it, only if they haven't."""
        built = self._read(key)
        if built is None or not self._exposed:
            return built
        digest = built.record.digest
        return built if digest and digest == _digest(built.path) else None

    def _read(self, key: str) -> CompleteBuild | None:
        """Returns a build; None if it was moved here, because it contains its old path."""
        path = os.path.join(self.root, key)
        try:
            with open(os.path.join(path, cache_locks.MARKER), encoding="utf-8") as file:
                record = BuildRecord.decode(json.load(file))
            return CompleteBuild(path, record) if record.path in ("", path) else None
        except (FileNotFoundError, ValueError):
            return None

    def _open(self, key: str) -> int:
        return cache_locks.open_lock(os.path.join(self.root, key))

    def _keep(self, key: str, descriptor: int) -> CompleteBuild | None:
        """Returns the build if it is complete, else None.

        ``descriptor`` holds a shared lock on it. It stays open, so that nobody removes the build
        while this process lives.
        """
        built = self._find(key)
        if built is None:
            return None
        cache_locks.touch(descriptor)
        before = self._held.pop(key, None)
        if before is not None:
            os.close(before)
        self._held[key] = descriptor
        return built

    def _build(self, key: str, make: Callable[[str, int], BuildRecord], lock: int) -> None:
        """Makes the build while it holds the lock alone, unless another process has made it
        meanwhile.
        """
        if self._find(key) is not None:
            return
        path = os.path.join(self.root, key)
        cache_locks.sign(lock, self._job)
        discard(path)
        try:
            record = make(path, lock)
            record.path, record.bytes = path, measure(path)
            if self._exposed:
                _seal(path)
                record.digest = _digest(path)
            _complete(path, record)
        except BaseException:
            discard(path)
            raise
        finally:
            cache_locks.sign(lock, "")
        self.made += 1


def _seal(path: str) -> None:
    """Makes the directories below ``path`` read-only for all: Python would add bytecode by
    itself.
    """
    for folder, _, _, descriptor in os.fwalk(path):
        if folder != path:
            os.fchmod(descriptor, os.fstat(descriptor).st_mode & ~_WRITE)


def _digest(path: str) -> str:
    """Returns a digest of all names below ``path``, and of the kernel's notes on each change; '' if
    ``path`` is removed meanwhile.

    No program can set the time of a change back, and reading contents would take seconds.
    """
    digest = hashlib.sha256()
    try:
        for folder, folders, files, descriptor in os.fwalk(path):
            folders.sort()
            for name in sorted([*folders, *files]):
                if folder == path and name == cache_locks.MARKER:
                    continue
                state = os.stat(name, dir_fd=descriptor, follow_symlinks=False)
                facts = f"{state.st_mode} {state.st_size} {state.st_ctime_ns}"
                digest.update(os.fsencode(os.path.join(folder, name)) + b"\0" + facts.encode())
    except FileNotFoundError:
        return ""
    return digest.hexdigest()


def _complete(path: str, record: BuildRecord) -> None:
    """Marks a build complete. The mark must be true after a power cut too, so everything else is
    written to disk first.
    """
    os.sync()
    marker = os.path.join(path, cache_locks.MARKER)
    with contextlib.suppress(FileNotFoundError):  # what was installed may have left a link there
        os.unlink(f"{marker}.part")
    with open(f"{marker}.part", "x", encoding="utf-8") as file:
        json.dump(record.encode(), file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(f"{marker}.part", marker)
