"""Temporary files that become objects once they are complete."""

from __future__ import annotations

import fcntl
import os
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from footplate.buckets.checksums import Digest
from footplate.buckets.disk_errors import disk_errors_as_service_errors

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_PREFIX = ".footplate-upload-"
STAGED = f"{_PREFIX}*"
"""What the temporary files in the folder of a bound bucket are called."""
_COPY_BYTES = 1 << 20


@contextmanager
def staged(path: Path, chunks: Iterable[bytes]) -> Iterator[Digest]:
    """The file ``path`` with these bytes, on the disk for good; afterwards it is gone.

    Until then it is locked, so that no other server takes it for one that was left behind.

    Raises:
        Unavailable: the disk is full.
    """
    with disk_errors_as_service_errors():
        descriptor = _open(path)
    try:
        yield _fill(descriptor, chunks)
    finally:
        os.close(descriptor)
        path.unlink(missing_ok=True)


def staged_name(new_id: str) -> str:
    """Of a temporary file in the folder of a bound bucket, at its top."""
    return f"{_PREFIX}{new_id}"


def is_staged(name: str) -> bool:
    return name.startswith(_PREFIX)


def sweep(directory: Path, pattern: str = "*") -> None:
    """Remove files that no process uses."""
    for path in directory.glob(pattern):
        with suppress(OSError):  # a program put a directory there: harmless
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                path.unlink()
            finally:
                os.close(descriptor)


def _open(path: Path) -> int:
    """New and locked; a sweep may come between the two."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    while True:
        descriptor = os.open(path, flags, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


def write_all(descriptor: int, chunk: bytes) -> None:
    """Every byte of ``chunk``, or an OSError."""
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def read_chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_COPY_BYTES):
            yield chunk


def _fill(descriptor: int, chunks: Iterable[bytes]) -> Digest:
    digest = Digest()
    for chunk in chunks:
        with disk_errors_as_service_errors():
            write_all(descriptor, chunk)
        digest.add(chunk)
    with disk_errors_as_service_errors():
        os.fsync(descriptor)
    return digest
