"""Reads files that a program may have replaced: never follows links, never blocks."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from footplate.safe_path import FILE, open_regular

MOST_BYTES = 65_536
"""No file that is read here is rightly longer."""

_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ENODEV)
"""Nothing has the name, or what has it is no file."""


def exists(path: Path | str) -> bool:
    """Returns whether anything has this name, including a dangling link.

    Raises OSError if this can't be determined now.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def read(path: Path | str) -> bytes | None:
    """Returns the beginning of a regular file; None if there is no readable one.

    Raises OSError if it can't be read now.
    """
    try:
        descriptor = open_regular(path)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    try:
        return os.read(descriptor, MOST_BYTES)
    finally:
        os.close(descriptor)


def append_to(path: Path) -> int:
    """Returns a descriptor at the end of the file, which is created if needed.

    Raises:
        OSError: the file can't be opened, or something else has its name.
    """
    return open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def is_locked(path: Path | str) -> bool:
    """Returns whether a process holds the file's lock; True if this can't be determined.

    The check takes the lock for a moment, shared with other checks, so a process that tries to take
    it just then would fail. Callers must check only while nobody is about to take it.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | FILE)
    except OSError as error:
        return error.errno not in _NO_FILE
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:  # it can't be found out
        return True
    finally:
        os.close(descriptor)
    return False


def take_lock(path: Path) -> int | None:
    """Returns a descriptor that holds the file's lock; None if another process holds it.

    Creates the file if needed.

    Raises:
        OSError: the file can't be opened, or something else has its name.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | FILE, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    except OSError:
        os.close(descriptor)
        raise
    return descriptor
