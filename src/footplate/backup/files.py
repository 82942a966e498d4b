"""Reads trees of files that programs change meanwhile, and copies their contents.

Folders are opened below each other, and no link is followed: a program can put a link to any
file of the machine in place of one of its own at any moment.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.backup.manifest import Entry, Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MAX_LEVELS = 400
"""Each takes a descriptor; objects have fewer, because of the length of their names."""
_CHUNK = 1 << 20
_ATTEMPTS = 3
_BELOW = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_VANISHED = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP})
_UNSUPPORTED = frozenset({errno.ENOTSUP, errno.ENODATA, errno.EPERM, errno.EACCES})
_KINDS = {stat.S_IFREG: Kind.FILE, stat.S_IFDIR: Kind.FOLDER, stat.S_IFLNK: Kind.LINK}


class UnfitError(Exception):
    """The file can't be in a backup, for the given reason; without one, it has vanished."""


@dataclass(frozen=True)
class Found:
    """A file or folder at ``path`` below the top: ``name`` in the open folder ``parent``."""

    path: str
    parent: int
    name: str
    status: os.stat_result

    @property
    def kind(self) -> Kind | None:
        return _KINDS.get(stat.S_IFMT(self.status.st_mode))


def walk(top: Path, wanted: Callable[[str], bool]) -> Iterator[Found]:
    """Yields everything below ``top`` whose path is wanted, each folder before its content.

    Entries that vanish meanwhile are left out. Raises OSError.
    """
    descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        yield from _walk_below(descriptor, "", wanted, MAX_LEVELS)
    finally:
        os.close(descriptor)


def _walk_below(
    parent: int, prefix: str, wanted: Callable[[str], bool], levels: int
) -> Iterator[Found]:
    for name in sorted(os.listdir(parent)):
        path = f"{prefix}{name}"
        if not wanted(path):
            continue
        try:
            found = Found(path, parent, name, os.lstat(name, dir_fd=parent))
        except FileNotFoundError:
            continue
        yield found
        if found.kind is Kind.FOLDER and levels:
            with suppress(UnfitError), _opened(found) as (child, _):
                yield from _walk_below(child, f"{path}/", wanted, levels - 1)


def describe(found: Found) -> Entry:
    """Returns the entry of a folder or a link.

    Raises UnfitError; FileNotFoundError: it has vanished.
    """
    if found.kind is Kind.LINK:
        try:
            return _entry(found, found.status, target=os.readlink(found.name, dir_fd=found.parent))
        except OSError as error:
            raise UnfitError(error.strerror) from error
    with _opened(found) as (descriptor, status):
        return _entry(found, status, attributes=_read_attributes(descriptor))


def copy(found: Found, target: Path) -> Entry:
    """Copies a file to the new file ``target``; of one that grows, copies its size at the start.

    Raises UnfitError; OSError: ``target`` can't be written.
    """
    left = _ATTEMPTS
    while True:
        left -= 1
        with _opened(found) as (source, before):
            size = before.st_size
            digest = copy_content(source, size, target)
            changed = version_of(os.fstat(source)) != version_of(before)
            if not (changed and left):
                if changed:  # it may have become shorter
                    digest = digest_of(target, size)
                attributes = _read_attributes(source)
                return _entry(found, before, size=size, digest=digest, attributes=attributes)
        target.unlink()


def version_of(status: os.stat_result) -> str:
    """Returns a text that changes with every change of the file.

    It begins like the identity in an object's record.
    """
    return f"f{status.st_ino}-{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}"


def copy_content(source: int, size_bytes: int, target: Path) -> str:
    """Copies content, with its holes, and returns the digest."""
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    try:
        digest = _Digest()
        for offset, chunk in _chunks(source, size_bytes):
            digest.add(offset, chunk)
            written = 0
            while written < len(chunk):
                written += os.pwrite(descriptor, chunk[written:], offset + written)
        os.ftruncate(descriptor, size_bytes)
        return digest.end(size_bytes)
    finally:
        os.close(descriptor)


def digest_of(path: Path, size_bytes: int) -> str:
    """Returns the digest of a file; '' if it has another size. Raises OSError."""
    descriptor = os.open(path, _BELOW)
    try:
        if os.fstat(descriptor).st_size != size_bytes:
            return ""
        digest = _Digest()
        for offset, chunk in _chunks(descriptor, size_bytes):
            digest.add(offset, chunk)
        return digest.end(size_bytes)
    finally:
        os.close(descriptor)


class _Digest:
    """A SHA-256 of the chunks that aren't all zero, with their positions, and of the size.

    A program can cheaply create a file of a petabyte that consists of holes; its digest is cheap,
    too.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, offset: int, chunk: bytes) -> None:
        self._hash.update(b"%d %d " % (offset, len(chunk)))
        self._hash.update(chunk)

    def end(self, size_bytes: int) -> str:
        self._hash.update(b"%d" % size_bytes)
        return self._hash.hexdigest()


def _chunks(descriptor: int, size_bytes: int) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset < size_bytes:
        try:
            data = os.lseek(descriptor, offset, os.SEEK_DATA)
        except OSError as error:
            if error.errno == errno.ENXIO:  # holes up to the end
                return
            raise
        offset = max(offset, data - data % _CHUNK)
        chunk = _read(descriptor, offset, min(_CHUNK, size_bytes - offset))
        if chunk.count(0) != len(chunk):
            yield offset, chunk
        offset += _CHUNK


def _read(descriptor: int, offset: int, size: int) -> bytes:
    """Reads ``size`` bytes; fewer only at the end of the file."""
    chunk = b""
    while len(chunk) < size and (
        more := os.pread(descriptor, size - len(chunk), offset + len(chunk))
    ):
        chunk += more
    return chunk


@contextmanager
def _opened(found: Found) -> Iterator[tuple[int, os.stat_result]]:
    """Yields the open file and its status.

    Raises UnfitError: it has been replaced, or may not be read.
    """
    try:
        descriptor = os.open(found.name, _BELOW, dir_fd=found.parent)
    except OSError as error:
        if error.errno in _VANISHED:
            raise UnfitError from None
        if error.errno in (errno.EACCES, errno.EPERM, errno.ENXIO):
            raise UnfitError(error.strerror) from None
        raise
    try:
        status = os.fstat(descriptor)
        if stat.S_IFMT(status.st_mode) != stat.S_IFMT(found.status.st_mode):
            raise UnfitError
        yield descriptor, status
    finally:
        os.close(descriptor)


def _entry(
    found: Found,
    status: os.stat_result,
    *,
    size: int = 0,
    digest: str = "",
    target: str = "",
    attributes: dict[str, str] | None = None,
) -> Entry:
    kind = _KINDS[stat.S_IFMT(status.st_mode)]
    mode, version = stat.S_IMODE(status.st_mode), version_of(status)
    owner = status.st_uid, status.st_gid
    time = status.st_mtime_ns
    return Entry(
        found.path, kind, mode, *owner, time, version, size, digest, target, attributes or {}
    )


def _read_attributes(descriptor: int) -> dict[str, str]:
    """Returns access lists, which let programs into folders, and other attributes."""
    if not hasattr(os, "listxattr"):
        return {}
    try:
        names = [n for n in os.listxattr(descriptor) if n.startswith(("system.posix_acl", "user."))]
        return {name: os.getxattr(descriptor, name).hex() for name in names}
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return {}
