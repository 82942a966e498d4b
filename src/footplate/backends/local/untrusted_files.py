"""Reads files that a program may have replaced: never follows links, never blocks."""

from __future__ import annotations

import errno
import fcntl
import os
from typing import TYPE_CHECKING

from footplate.safe_path import FILE, open_regular

if TYPE_CHECKING:
    from pathlib import Path

MOST_BYTES = 65_536
"""No file that is read here is rightly longer."""

_NO_FILE = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENXIO, errno.ENODEV)
"""Nothing has the name, or what has it is no file."""


def exists(path: Path | str) -> bool:
    """Returns whether anything has this name, a link to nowhere included.

    Raises OSError: that can't be found out now.
    """
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def read(path: Path | str) -> bytes | None:
    """Returns what a regular file begins with; None if a program left none there that can be read.

    Raises OSError: it can't be read now.
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
    """Returns a descriptor at the end of the file, made if need be.

    Raises:
        OSError: it can't be, or something else stands in its place.
    """
    return open_regular(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)


def is_locked(path: Path | str) -> bool:
    """Returns whether some process holds the lock of this file; also where that can't be found out.

    Asking takes the lock for a moment, together with all who ask: a process that tries to take
    it for itself just then would fail. Ask only when nobody is about to.
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
    """Returns a descriptor with the lock of the file, made if need be; None: another has it.

    Raises:
        OSError: it can't be made, or something else stands in its place.
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
