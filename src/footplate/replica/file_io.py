"""Fast reads and writes of small files, with fewer system calls than Python's text files."""

from __future__ import annotations

import errno
import os
import stat
import sys

_PART_BYTES = 65536
_ABSENT = (errno.ENOENT, errno.ENOTDIR, errno.ELOOP)


def is_there(path: str) -> bool:
    """Returns whether the path exists, like ``os.path.exists``, which takes some errors for a no.

    Raises OSError if that can't be found out now.
    """
    return _mode(path) is not None


def is_directory(path: str) -> bool:
    """Returns whether the path is a directory, like ``os.path.isdir``, which takes some errors for
    a no.

    Raises OSError if that can't be found out now.
    """
    mode = _mode(path)
    return mode is not None and stat.S_ISDIR(mode)


def is_reachable(path: str) -> bool:
    """Returns whether this process finds something at the path; if it can't, programs can't either.

    Raises OSError if that can't be found out now.
    """
    try:
        return is_there(path)
    except PermissionError:
        return False


def _mode(path: str) -> int | None:
    try:
        return os.stat(path).st_mode
    except OSError as error:
        if error.errno in _ABSENT:
            return None
        raise


def read_text(path: str) -> str:
    """Returns the text of a file; bytes that are no text pass through ``os.fsencode`` unharmed.
    Raises OSError.
    """
    return os.fsdecode(read_start(path, sys.maxsize))


def read_start(path: str, most_bytes: int) -> bytes:
    """Returns the first bytes of a file. Raises OSError."""
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        parts = [os.read(descriptor, min(most_bytes, _PART_BYTES))]
        left = most_bytes - len(parts[-1])
        while parts[-1] and left:
            parts.append(os.read(descriptor, min(left, _PART_BYTES)))
            left -= len(parts[-1])
    finally:
        os.close(descriptor)
    return b"".join(parts)


def write_text(path: str, text: str, flags: int = os.O_WRONLY, mode: int = 0o666) -> None:
    """Writes a text to a file, which must exist, as the kernel's files do, unless ``flags`` create
    it.

    Raises OSError, for example if a link is in its place.
    """
    _write(path, [os.fsencode(text)], flags, mode)


def write_readable(path: str, *parts: str | bytes) -> None:
    """Creates or replaces a file that all users may read. Raises as ``write_text`` does.

    The parts are written one after the other: to join large ones would copy them.
    """
    content = [part if isinstance(part, bytes) else os.fsencode(part) for part in parts]
    _write(path, content, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)


def _write(path: str, parts: list[bytes], flags: int, mode: int) -> None:
    descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, mode)
    try:
        for part in parts:
            left = memoryview(part)
            while left:
                left = left[os.write(descriptor, left) :]
    finally:
        os.close(descriptor)
