"""Opens paths that programs and clients can change, without following links.

A path that is checked first and used afterwards may have become a link in between. So each part is
opened beneath the one before it, a link is refused wherever it lies, and what was opened is what is
used. The directory at the top is trusted: it is given, not found.

Supervisors on nodes use this too: Python 3.8, and the standard library only.
"""

from __future__ import annotations

import errno
import os
import stat

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Union

    Top = Union[str, os.PathLike[str]]

DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
PLACE = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
"""A directory that is only passed or mounted: to read it needs a right that to pass it doesn't."""
FILE = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
"""Never through a link, never waiting for a pipe that nobody writes to."""
ROOT = os.path.sep


class NotRegular(FileNotFoundError):
    """The path leads to a link, a directory, a pipe or a device."""


def open_directory(
    top: Top,
    parts: Sequence[str] = (),
    *,
    create: bool = False,
    durable: bool = False,
    flags: int = DIRECTORY,
) -> int:
    """Returns a descriptor of the directory ``parts`` below ``top``.

    ``create`` creates missing directories; ``durable`` flushes them to the disk.

    Raises:
        FileNotFoundError: a directory doesn't exist, and ``create`` is False.
        NotADirectoryError: a part is a file or a link.
        OSError: a directory can't be opened.
    """
    current = os.open(top, PLACE if parts else flags)
    for index, part in enumerate(parts):
        last = index + 1 == len(parts)
        try:
            following = _step(current, part, flags if last else PLACE, create, durable)
        finally:
            os.close(current)
        current = following
    return current


def directory(
    top: Top,
    parts: Sequence[str] = (),
    *,
    create: bool = False,
    durable: bool = False,
    flags: int = DIRECTORY,
) -> _Opened:
    """Returns a context manager that opens the directory like ``open_directory``, and closes it."""
    return _Opened(open_directory(top, parts, create=create, durable=durable, flags=flags))


def open_file(top: Top, parts: Sequence[str]) -> int:
    """Returns a descriptor, for reading, of a regular file below ``top``.

    Follows a link as the last part if it leads to a file below ``top`` that can be reached without
    links.

    Raises:
        FileNotFoundError: the path doesn't exist, or isn't a regular file below ``top``.
        NotADirectoryError: a part before the last is a file or a link.
        PermissionError: the file can't be read.
    """
    with directory(top, parts[:-1], flags=PLACE) as parent:
        if not stat.S_ISLNK(os.lstat(parts[-1], dir_fd=parent).st_mode):
            return open_regular(parts[-1], parent=parent)
    end = _end_of_link(top, parts)
    with directory(top, end[:-1], flags=PLACE) as parent:
        return open_regular(end[-1], parent=parent)


def open_regular(
    name: Top, flags: int = os.O_RDONLY, mode: int = 0o600, parent: int | None = None
) -> int:
    """Returns a descriptor of the regular file ``name`` in the directory ``parent``.

    Existing pipes and devices are not even opened, since opening one may have effects.

    Raises:
        FileNotFoundError: the file doesn't exist.
        NotRegular: the path isn't a regular file.
        OSError: the file can't be opened.
    """
    try:
        if not flags & os.O_CREAT and not stat.S_ISREG(os.lstat(name, dir_fd=parent).st_mode):
            raise _irregular(name)
        descriptor = os.open(name, flags | FILE, mode, dir_fd=parent)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EISDIR):
            raise _irregular(name) from None
        raise
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise _irregular(name)


def split(path: Top) -> list[str]:
    """Returns the parts of an absolute path, to open it below ``ROOT``."""
    return [part for part in os.fspath(path).split(os.path.sep) if part]


def resolve(path: str, roots: Sequence[str]) -> str:
    """Returns ``path`` with links followed in the one of ``roots`` that contains it.

    Looks up nothing but that root: a link below the root stays in the path, and is refused when the
    path is opened.
    """
    parts = split(os.path.normpath(path))
    found: list[str] = []
    for root in roots:
        known = split(os.path.normpath(root))
        if len(known) > len(found) and parts[: len(known)] == known:
            found = known
    top = os.path.realpath(os.path.join(ROOT, *found))
    return os.path.join(top, *parts[len(found) :])


def scan(path: str) -> Iterator[os.DirEntry[str]]:
    """Yields the entries of the directory ``path``, no part of which may be a link.

    Entries have only names, not whole paths. Raises OSError.
    """
    with directory(ROOT, split(path)) as descriptor, os.scandir(descriptor) as entries:
        yield from entries


class _Opened:
    """A context manager that closes a descriptor. (``contextlib`` would need more memory.)"""

    __slots__ = ("_descriptor",)

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def __enter__(self) -> int:
        return self._descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _step(current: int, part: str, flags: int, create: bool, durable: bool) -> int:  # noqa: FBT001
    try:
        return _enter(current, part, flags)
    except FileNotFoundError:
        if not create:
            raise
    try:
        os.mkdir(part, dir_fd=current)
        if durable:
            _keep(current)
    except FileExistsError:
        pass  # another writer was faster
    return _enter(current, part, flags)


def _enter(current: int, part: str, flags: int) -> int:
    if part in ("", ".", ".."):
        raise NotADirectoryError(errno.ENOTDIR, f"{part!r} names no directory", part)
    try:
        return os.open(part, flags, dir_fd=current)
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP):
            raise
        fault = f"{part!r} is a link, which the service doesn't follow, or not a directory"
        raise NotADirectoryError(errno.ENOTDIR, fault, part) from None


def _keep(current: int) -> None:
    """Flushes a directory to the disk; opens it again, as ``PLACE`` can't be flushed."""
    descriptor = os.open(".", DIRECTORY, dir_fd=current)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _irregular(name: Top) -> NotRegular:
    return NotRegular(errno.ENOENT, "no regular file", os.fspath(name))


def _end_of_link(top: Top, parts: Sequence[str]) -> list[str]:
    """Returns where a link leads; the caller must open that without links before it trusts it."""
    try:
        real = os.path.realpath(top)
        end = os.path.realpath(os.path.join(top, *parts))
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        raise FileNotFoundError(
            f"the link {parts[-1]!r} was replaced during the request; try again"
        ) from error
    if not end.startswith(os.path.join(real, "")):
        raise FileNotFoundError(f"{parts[-1]!r} is a link to a place outside of the directory")
    return split(end[len(real) :])
