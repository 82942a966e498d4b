"""Removes directory trees that a hostile program may have filled.

Every step is relative to a descriptor and follows no link, so nothing outside can be reached.
What isn't deep and hinders nobody goes from within. Of all else subdirectories are first moved up
to the top, so that neither memory of the call stack nor descriptors grow with the depth of the
tree; read-only and locked-up ones are opened up.
"""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


_SHALLOW = 8
"""Levels that are removed from within: a program's own few, and those of its view of the host."""


def empty(folder: Path, stopped: Callable[[], bool] = lambda: False) -> tuple[str, ...]:
    """Removes everything in ``folder`` until ``stopped``; returns the names that it had to leave.

    Those belong to another user, or something is mounted there.
    """
    top = os.open(folder, _DIRECTORY)
    numbers = count()
    left: set[str] = set()
    try:
        while names := {n: kind for n, kind in _entries(top).items() if n not in left}:
            for name in sorted(names):
                if stopped():
                    return ()
                if not _remove(top, name, numbers, is_directory=names[name]):
                    left.add(name)
        return tuple(sorted(left))
    finally:
        os.close(top)


def _remove(top: int, name: str, numbers: Iterator[int], *, is_directory: bool) -> bool:
    try:
        if not is_directory:
            os.unlink(name, dir_fd=top)
        elif not (_remove_empty(top, name) or _remove_shallow(top, name, _SHALLOW)):
            _open_up(top, name)
            _flatten(top, name, numbers)
            os.rmdir(name, dir_fd=top)
    except FileNotFoundError:
        return True
    except OSError:  # it stays, and is reported
        return False
    return True


def _flatten(top: int, name: str, numbers: Iterator[int]) -> None:
    """Removes the files of the directory ``name``; moves its subdirectories beside it."""
    directory = os.open(name, _DIRECTORY, dir_fd=top)
    try:
        for child, is_directory in _entries(directory).items():
            with suppress(OSError):  # it stays, and so does what holds it
                if not is_directory:
                    os.unlink(child, dir_fd=directory)
                elif not _remove_empty(directory, child):
                    _move_up(directory, child, top, numbers)
    finally:
        os.close(directory)


def _remove_empty(directory: int, name: str) -> bool:
    """Removes the directory ``name`` if it is empty; returns whether it is gone now."""
    try:
        os.rmdir(name, dir_fd=directory)
    except OSError:  # it stays, and is moved up
        return False
    return True


def _remove_shallow(directory: int, name: str, depth: int) -> bool:
    """Removes the directory ``name`` with its content; returns whether it is gone now.

    It stays, perhaps with less content, if an error occurs or it has more than ``depth`` levels.
    """
    try:
        inner = os.open(name, _DIRECTORY, dir_fd=directory)
    except OSError:  # it stays, and is moved up
        return False
    try:
        for child, is_directory in _entries(inner).items():
            if not is_directory:
                os.unlink(child, dir_fd=inner)
            elif not _remove_empty(inner, child) and not (
                depth and _remove_shallow(inner, child, depth - 1)
            ):
                return False
    except OSError:  # it stays, and is moved up
        return False
    finally:
        os.close(inner)
    return _remove_empty(directory, name)


def _move_up(directory: int, child: str, top: int, numbers: Iterator[int]) -> None:
    try:
        _open_up(directory, child)
    except PermissionError:  # not ours: removed only if it is empty
        os.rmdir(child, dir_fd=directory)
        return
    # A removal that was cut short may have left directories with these names.
    for number in numbers:
        try:
            os.rename(child, f".{number}", src_dir_fd=directory, dst_dir_fd=top)
        except OSError as error:
            if error.errno not in (errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR):
                raise
        else:
            return


def _entries(directory: int) -> dict[str, bool]:
    """Returns the directory's entries, and for each name whether it is a directory."""
    with os.scandir(directory) as entries:
        return {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}


def _open_up(directory: int, name: str) -> None:
    """Gives the owner every right on the directory ``name``."""
    if sys.platform == "linux":  # chmod follows links there
        descriptor = os.open(name, os.O_PATH | _DIRECTORY, dir_fd=directory)
        try:
            os.chmod(f"/proc/self/fd/{descriptor}", 0o700)  # noqa: PTH101  Path takes as long again
        finally:
            os.close(descriptor)
    else:
        os.chmod(name, 0o700, dir_fd=directory, follow_symlinks=False)
