"""Opens files below a directory component by component, so that no link leads out of it.

A program may put links of any kind into a bucket at any moment; a path that was checked
first and opened afterwards could have become another one in between.
"""

from __future__ import annotations

import errno
import fcntl
import os
import stat
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST_LEVELS = 512
"""No name of an object has more; each level that is looked into costs a descriptor."""


@contextmanager
def directory(root: Path, parts: Sequence[str], *, create: bool = False) -> Iterator[int]:
    """A descriptor of the directory ``parts`` below ``root``, which itself is trusted.

    Raises:
        FileNotFoundError: one of them isn't there (and wasn't to be created).
        NotADirectoryError: one of them is a file or a link.
    """
    current = os.open(root, _DIRECTORY)
    try:
        for part in parts:
            following = _step(current, part, create=create)
            os.close(current)
            current = following
        yield current
    finally:
        os.close(current)


def open_file(root: Path, parts: Sequence[str]) -> int:
    """A descriptor, for reading, of a regular file below ``root``.

    A link as the last part is followed, if its end is a file below ``root`` that can be
    reached without links.

    Raises:
        FileNotFoundError: there is no such thing, or it isn't a regular file below ``root``.
        NotADirectoryError: as ``directory``.
    """
    with directory(root, parts[:-1]) as parent:
        if not stat.S_ISLNK(os.lstat(parts[-1], dir_fd=parent).st_mode):
            return _open_regular(parts[-1], parent)
    end = _end_of_link(root, parts)
    with directory(root, end[:-1]) as parent:
        return _open_regular(end[-1], parent)


def remove_empty_tree(name: str, parent: int) -> bool:
    """Remove a directory that has nothing but directories in it.

    False: it has more, or a running program was given it or one below it (``footplate.replica``
    locks those), or so many levels that no object can have led to them.
    """
    child = os.open(name, _DIRECTORY, dir_fd=parent)
    try:
        return (
            _remove_below(child, dry=True)
            and _remove_below(child)
            and remove_directory(name, parent)
        )
    finally:
        os.close(child)


def _remove_below(current: int, levels: int = _MOST_LEVELS, *, dry: bool = False) -> bool:
    inner = _read_directories(current)
    if inner is None or (inner and not levels) or _is_locked(current):
        return False
    for name in inner:
        child = os.open(name, _DIRECTORY, dir_fd=current)
        try:
            cleared = _remove_below(child, levels - 1, dry=dry)
            if not cleared or not (dry or remove_directory(name, current)):
                return False
        finally:
            os.close(child)
    return True


def _read_directories(current: int) -> list[str] | None:
    """The names of what is in a directory; None as soon as one of them is no directory."""
    names = []
    with os.scandir(current) as entries:
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                return None
            names.append(entry.name)
    return names


def _is_locked(current: int) -> bool:
    """Whether another process has a lock of the directory; else it is locked until it is closed."""
    try:
        fcntl.flock(current, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False  # a file system without locks
    return False


def remove_directory(name: str, parent: int) -> bool:
    """Remove an empty directory; False: there is something in it."""
    try:
        os.rmdir(name, dir_fd=parent)
    except OSError:
        return False
    return True


def _step(current: int, part: str, *, create: bool) -> int:
    try:
        return os.open(part, _DIRECTORY, dir_fd=current)
    except FileNotFoundError:
        if not create:
            raise
    try:
        os.mkdir(part, dir_fd=current)
        os.fsync(current)
    except FileExistsError:
        pass  # another writer was faster
    return os.open(part, _DIRECTORY, dir_fd=current)


def _open_regular(name: str, parent: int) -> int:
    try:
        descriptor = os.open(name, _FILE, dir_fd=parent)
    except OSError as error:
        if isinstance(error, PermissionError):
            raise
        raise FileNotFoundError(f"{name!r} is no regular file") from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise FileNotFoundError(f"{name!r} is no regular file")
    return descriptor


def _end_of_link(root: Path, parts: Sequence[str]) -> tuple[str, ...]:
    """Where a link ends; what it says is only believed once opened without links."""
    try:
        end = Path(os.path.realpath(root.joinpath(*parts)))
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise FileNotFoundError(f"{parts[-1]!r} was a link a moment ago") from error
    if not end.is_relative_to(root) or end == root:
        raise FileNotFoundError(f"{parts[-1]!r} is a link out of its bucket")
    return end.relative_to(root).parts
