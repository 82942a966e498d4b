"""Safely opens files that a program may have replaced."""

from __future__ import annotations

import os
import stat

_FLAGS = os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NOCTTY


def open_regular(path: str) -> int | None:
    """A descriptor of a regular file; None: there is none, or it can't be read.

    Links aren't followed, and pipes and devices neither opened for reading nor waited for.
    """
    try:
        if not stat.S_ISREG(os.lstat(path).st_mode):
            return None
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    return None


def read_piece(path: str, most: int, offset: int) -> bytes:
    """At most so many bytes of a regular file; empty: there is nothing to be read."""
    descriptor = open_regular(path)
    if descriptor is None:
        return b""
    try:
        return os.pread(descriptor, most, offset)
    except OSError:
        return b""
    finally:
        os.close(descriptor)


def stamp(status: os.stat_result) -> tuple[int, int, int]:
    """Another one when the file was written to, or replaced."""
    return status.st_mtime_ns, status.st_size, status.st_ino
