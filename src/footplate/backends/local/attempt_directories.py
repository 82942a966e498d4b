"""The directories of all attempts. Each is created and moved away atomically."""

from __future__ import annotations

import errno
import logging
import os
import re
import secrets
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

from footplate.backends.gang_names import NAME, check_gang
from footplate.backends.local.directory_removal import empty
from footplate.backends.local.replica_directory import Home
from footplate.domain.errors import FailedPrecondition, Unavailable
from footplate.domain.names import AttemptId
from footplate.ports.backend import AttemptStart, Ticket

log = logging.getLogger(__name__)

KEPT_S = 3600
"""The same as in ``footplate.replica.lost_files``: what the events of jobs say."""


class DeletionQueue:
    """Deletes directories: renames each at once, and deletes it on a background thread.

    A failed deletion is retried at the next ``enqueue``, and by the next server.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._wake = threading.Event()
        self._closed = False
        self._thread: threading.Thread | None = None

    def open(self) -> None:
        """Starts deleting, also what an earlier server left."""
        if self._thread is None:
            self._path.mkdir(mode=0o700, exist_ok=True)
            self._thread = threading.Thread(target=self._work, name="deletion", daemon=True)
            self._thread.start()
            self._wake.set()

    def enqueue(self, directory: Path) -> None:
        """Moves a directory into the queue."""
        self._path.mkdir(mode=0o700, exist_ok=True)
        # A directory can't be renamed to one with content: an earlier one of this name may still
        # wait to be deleted.
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
            # Cleared before the look: what is moved here during it wakes the thread once more.
            self._wake.clear()
            try:
                for left in empty(self._path, lambda: self._closed):
                    log.warning("can't remove %s", self._path / left)
            except OSError:
                log.warning("can't empty %s", self._path, exc_info=True)


_MAKING = ".making"
_RESTART = "~"
"""Stands between the name of a replica and the number of its restart."""
_HOME_NAME = re.compile(rf"{NAME.pattern}(?:{_RESTART}[0-9]{{1,9}})?")


class AttemptDirectories:
    """The directories of attempts. ``write_ticket`` returns the content of a replica's ticket."""

    def __init__(self, root: Path, write_ticket: Callable[[Ticket], str]) -> None:
        self._root = root
        self._write_ticket = write_ticket
        # Of its own: another server that still thinks it is responsible may be making the same.
        self._making = root / f"{_MAKING}{secrets.token_hex(8)}"
        self._deletion_queue = DeletionQueue(root / ".trash")
        self.kept = root / ".kept"
        """Where supervisors keep files of ended programs, for ``KEPT_S``."""

    def open(self) -> None:
        """Deletes what an earlier server left half-created or half-removed."""
        self._make_root()
        for path in self._root.glob(f"{_MAKING}*"):
            self._deletion_queue.enqueue(path)
        self._deletion_queue.open()

    def close(self) -> None:
        with suppress(OSError):  # the next server throws it away
            self._making.rmdir()
        self._deletion_queue.close()

    def homes(self) -> tuple[Home, ...]:
        """Returns the HOMEs of all attempts, in order."""
        return tuple(home for name in _folders(self._root) for home in self.of(AttemptId(name)))

    def of(self, attempt_id: AttemptId) -> tuple[Home, ...]:
        """Returns an attempt's HOMEs, the newest of each replica; none for an unknown attempt."""
        if not NAME.fullmatch(attempt_id):
            return ()
        newest: dict[str, Home] = {}
        for home in self._made(attempt_id):
            known = newest.setdefault(home.replica, home)
            if home.restart > known.restart:
                newest[home.replica] = home
        return tuple(newest.values())

    def _made(self, attempt_id: AttemptId) -> Iterator[Home]:
        path = self._root / attempt_id
        for name in _folders(path):
            replica, _, restart = name.partition(_RESTART)
            yield Home(attempt_id, replica, path / name, int(restart or 0))

    def find(self, attempt_id: AttemptId, replica: str) -> Home | None:
        return next((h for h in self.of(attempt_id) if h.replica == replica), None)

    def renew(self, attempt_id: AttemptId, ticket: Ticket) -> None:
        """Creates a HOME for a replica's next start, then deletes its previous one.

        The previous one may be missing, after a removal or a power failure.

        Raises:
            Unavailable: the HOME can't be created now; nothing was created.
        """
        old = self.find(attempt_id, ticket.replica)
        path = self._root / attempt_id / _home_name(ticket)
        try:
            self._begin()
            self._fill(self._making, ticket)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            (self._making / path.name).rename(path)
        except OSError as error:
            self._give_up()
            message = (
                f"the server can't create the directory of replica {ticket.replica}: "
                f"{error.strerror}"
            )
            raise Unavailable(message) from error
        if old is not None:
            with suppress(OSError):  # the newest one counts, and all go with their attempt
                self._deletion_queue.enqueue(old.path)

    def make(self, request: AttemptStart) -> None:
        """Creates the HOMEs of a gang if they don't exist.

        Raises:
            Unavailable: the HOMEs can't be created now; nothing was created.
            FailedPrecondition: the HOMEs can never be created.
        """
        check_gang(request)
        if self.of(request.attempt_id):
            return
        try:
            self._make_root()
            self._begin()
            path = self._making / request.attempt_id
            path.mkdir(mode=0o700)
            for ticket in request.tickets:
                self._fill(path, ticket)
            path.rename(self._root / request.attempt_id)
        except OSError as error:
            self._give_up()
            if error.errno == errno.ENAMETOOLONG:
                raise FailedPrecondition(
                    "the path of the job's directory would be too long"
                ) from error
            message = (
                f"the server can't create the directory of the job's replicas: {error.strerror}"
            )
            raise Unavailable(message) from error

    def _make_root(self) -> None:
        """Creates the root, which may be deleted at any time."""
        self._root.mkdir(parents=True, exist_ok=True)
        self._root.chmod(0o700)

    def _begin(self) -> None:
        """Creates the directory for new attempts, or empties it; reusing it saves time."""
        with suppress(FileExistsError):
            self._making.mkdir(mode=0o700)
        with os.scandir(self._making) as left:
            nothing = next(left, None) is None
        if not nothing:
            self._deletion_queue.enqueue(self._making)
            self._making.mkdir(mode=0o700)

    def _fill(self, folder: Path, ticket: Ticket) -> None:
        home = folder / _home_name(ticket)
        home.mkdir(mode=0o700)
        _write_private(home / "ticket.json", self._write_ticket(ticket))

    def _give_up(self) -> None:
        try:
            self._deletion_queue.enqueue(self._making)
        except OSError:
            return  # the next start or the next server does

    def discard_expired(self, now_s: float) -> float | None:
        """Deletes kept files that have expired; returns the seconds until the next one expires."""
        due_s = [KEPT_S - (now_s - changed_s) for changed_s in self._expire(now_s)]
        return min(due_s, default=None)

    def _expire(self, now_s: float) -> Iterator[float]:
        """Deletes kept files that have expired; yields the times at which the others were kept."""
        try:
            with os.scandir(self.kept) as entries:
                found = [(entry.name, entry.stat().st_mtime) for entry in entries]
        except FileNotFoundError:
            return
        for name, changed_s in found:
            if now_s - changed_s < KEPT_S:
                yield changed_s
            else:
                self._deletion_queue.enqueue(self.kept / name)

    def discard(self, attempt_id: AttemptId) -> None:
        """Moves the attempt's directory away to delete it."""
        self._deletion_queue.enqueue(self._root / attempt_id)


def _home_name(ticket: Ticket) -> str:
    return f"{ticket.replica}{_RESTART}{ticket.restart}" if ticket.restart else ticket.replica


def _folders(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            found = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(name for name in found if _HOME_NAME.fullmatch(name))


def _write_private(path: Path, text: str) -> None:
    """Writes a file and flushes it, so that a power failure can't lose a part of it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
