"""Checks a backup, and makes a data directory of it."""

from __future__ import annotations

import fcntl
import os
import re
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.backup.files import copy_content, digest_of
from footplate.backup.manifest import DATA, NAME, Entry, Kind, read_manifest
from footplate.domain.errors import DataLoss, FailedPrecondition, InvalidArgument, Violation
from footplate.safe_path import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

UNFINISHED = "restore-unfinished"
"""A file in a data directory that isn't whole yet: no server starts there."""
_BACKUP = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{6}Z(-[0-9]+)?")
_EVERY = 1000


@dataclass(frozen=True)
class Restored:
    """The result; ``damaged`` are the files that have changed or vanished in the backup."""

    backup: Path
    files: int
    size_bytes: int
    damaged: tuple[str, ...]


def find_backups(directory: Path) -> list[Path]:
    """Returns the backups in ``directory``, the newest last."""
    try:
        names = [path.name for path in directory.iterdir() if _BACKUP.fullmatch(path.name)]
    except FileNotFoundError:
        return []
    names.sort(key=lambda name: (name[:18], len(name), name))
    return [directory / name for name in names]


def find_newest(directory: Path) -> Path:
    """Returns the newest backup in ``directory``, or ``directory`` if it is one itself.

    Raises InvalidArgument: there is no backup.
    """
    found = [directory] if (directory / NAME).exists() else find_backups(directory)
    if not found:
        text = (
            f"'{directory}' given, a folder without backups; allowed: a folder with a backup "
            "that `footplate backup` made"
        )
        raise InvalidArgument.of((Violation("DIR", text),))
    return found[-1]


def check(backup: Path, report: Callable[[str], None]) -> Restored:
    """Checks a backup by reading every file. Raises DataLoss: its list of files is damaged."""
    entries = read_manifest(backup)
    damaged = []
    files = [entry for entry in entries.values() if entry.kind is Kind.FILE]
    for count, entry in enumerate(files, 1):
        if not _is_whole(backup, entry):
            damaged.append(entry.path)
        if count % _EVERY == 0:
            report(f"{count} of {len(files)} files checked.")
    size = sum(entry.size_bytes for entry in files)
    return Restored(backup, len(files), size, tuple(damaged))


def _is_whole(backup: Path, entry: Entry) -> bool:
    try:
        return digest_of(backup / DATA / entry.path, entry.size_bytes) == entry.digest
    except OSError:  # what can't be read can't be restored
        return False


def restore(
    backup: Path, root: Path, report: Callable[[str], None], *, skip_damaged: bool = False
) -> Restored:
    """Restores the data directory ``root``, which must be empty or not exist.

    Raises:
        FailedPrecondition: ``root`` isn't empty.
        DataLoss: the backup is damaged, and ``skip_damaged`` is false.
        OSError: ``root`` can't be written.
    """
    entries = read_manifest(backup)
    before = os.umask(0o077)
    try:
        with _claimed(root):
            unfinished = root / UNFINISHED
            unfinished.touch()
            restored = _fill(backup, entries, root, report, skip_damaged=skip_damaged)
            os.sync()
            unfinished.unlink()
    finally:
        os.umask(before)
    return restored


@contextmanager
def _claimed(root: Path) -> Iterator[None]:
    """Holds the lock of the empty folder, so that no server starts there meanwhile.

    Raises FailedPrecondition: the folder isn't empty, or is locked.
    """
    root.mkdir(parents=True, exist_ok=True)
    lock = root / "footplate.lock"
    if any(root.iterdir()):
        raise FailedPrecondition(_describe_occupant(root, lock))
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


def _describe_occupant(root: Path, lock: Path) -> str:
    with suppress(FileNotFoundError):
        descriptor = os.open(lock, os.O_RDWR | os.O_CLOEXEC)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return (
                f"a server uses the directory {root}: restore into another one with --data-dir, "
                "or stop the server (`footplate down`), move the directory away, and restore "
                "again"
            )
        finally:
            os.close(descriptor)
    return (
        f"the directory {root} isn't empty: move it away, or restore into another "
        "directory with --data-dir"
    )


def _fill(
    backup: Path,
    entries: dict[str, Entry],
    root: Path,
    report: Callable[[str], None],
    *,
    skip_damaged: bool,
) -> Restored:
    damaged: list[str] = []
    files = size = 0
    folders = [entry for entry in entries.values() if entry.kind is Kind.FOLDER]
    for entry in folders:
        (root / entry.path).mkdir(parents=True, exist_ok=True)
    for entry in entries.values():
        path = root / entry.path
        if entry.kind is Kind.FOLDER:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        if entry.kind is Kind.LINK:
            path.symlink_to(entry.target)
        elif _copy(backup / DATA / entry.path, path, entry):
            files, size = files + 1, size + entry.size_bytes
        elif skip_damaged:
            path.unlink(missing_ok=True)
            damaged.append(entry.path)
            continue
        else:
            raise DataLoss(
                f"the backup's file {backup / DATA / entry.path} is damaged. Remove {root}; then "
                "restore an earlier backup, or this one without its damaged files "
                "(--skip-damaged)"
            )
        _set_state(path, entry)
        if files % _EVERY == 0:
            report(f"{files} files restored.")
    for entry in reversed(folders):
        _set_state(root / entry.path, entry)
    return Restored(backup, files, size, tuple(damaged))


def _copy(source: Path, target: Path, entry: Entry) -> bool:
    """Copies a file; returns False if it has changed since the backup."""
    try:
        descriptor = open_regular(source)
    except FileNotFoundError:
        return False
    try:
        size = os.fstat(descriptor).st_size
        return size == entry.size_bytes and copy_content(descriptor, size, target) == entry.digest
    finally:
        os.close(descriptor)


def _set_state(path: Path, entry: Entry) -> None:
    """Sets owner, rights, access lists and time; without root the user owns everything."""
    if os.geteuid() == 0:
        os.chown(path, entry.uid, entry.gid, follow_symlinks=False)
    if entry.kind is not Kind.LINK:
        for name, value in entry.attributes.items():
            with suppress(OSError):  # a file system without them
                os.setxattr(path, name, bytes.fromhex(value))
        # No program of this machine gets another's rights by a file that it can run.
        path.chmod(entry.mode & (0o1777 if entry.kind is Kind.FOLDER else 0o777))
    os.utime(path, ns=(entry.mtime_ns, entry.mtime_ns), follow_symlinks=False)
