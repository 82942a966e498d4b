"""Reads pieces of files that a program may have replaced, below directories that it may replace."""

from __future__ import annotations

import os

from footplate.safe_path import PLACE, ROOT, directory, open_regular, split


def read_piece(path: str, most: int, offset: int) -> bytes:
    """Returns at most ``most`` bytes of a regular file; b'' if there is nothing to read.

    ``path`` is a real path: no link in it is followed.
    """
    try:
        *parts, name = split(path)
        with directory(ROOT, parts, flags=PLACE) as parent:
            descriptor = open_regular(name, parent=parent)
    except (OSError, ValueError):  # a program may have put anything there
        return b""
    try:
        return os.pread(descriptor, most, offset)
    except OSError:  # it is looked at again
        return b""
    finally:
        os.close(descriptor)


def stamp(status: os.stat_result) -> tuple[int, int, int]:
    """Returns a stamp that changes when the file is written to, or replaced."""
    return status.st_mtime_ns, status.st_size, status.st_ino
