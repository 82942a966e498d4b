"""Temporary files that become objects once they are complete."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from footplate.buckets.checksums import Digest
from footplate.buckets.disk_errors import disk_errors_as_service_errors
from footplate.safe_path import open_regular

_PREFIX = ".footplate-upload-"
_COPY_BYTES = 1 << 20


@contextmanager
def staged(path: Path, chunks: Iterable[bytes]) -> Iterator[tuple[Path, Digest]]:
    """Yields the file ``path`` with these bytes, durably written; removes it afterwards.

    Until then it is locked, so that no other server removes it as a leftover.

    Raises:
        Unavailable: the disk is full.
    """
    with disk_errors_as_service_errors():
        descriptor = _open(path)
    try:
        yield path, _fill(descriptor, chunks)
    finally:
        os.close(descriptor)
        path.unlink(missing_ok=True)


@contextmanager
def staged_outside(
    records: Path, folder: Path, new_id: str, chunks: Iterable[bytes]
) -> Iterator[tuple[Path, Digest]]:
    """Yields a temporary file at the top of ``folder``, which also has files of others.

    A file in ``records`` marks it as the service's own; its name alone doesn't prove that.
    """
    place = folder / f"{_PREFIX}{new_id}"
    with staged(records / new_id, [os.fsencode(place)]), staged(place, chunks) as found:
        yield found


def is_staged(records: Path, name: str) -> bool:
    """Returns whether a name in a bound bucket's folder is a temporary file of this service."""
    new_id = name.removeprefix(_PREFIX)
    return new_id not in ("", name) and "/" not in new_id and (records / new_id).exists()


def sweep(directory: Path, release: Callable[[Path], bool] = lambda _path: True) -> None:
    """Removes files that no process uses, if ``release`` returns True for them."""
    for path in directory.iterdir():
        with suppress(OSError):  # a program put a directory there: harmless
            descriptor = open_regular(path)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if release(path):
                    path.unlink()
            finally:
                os.close(descriptor)


def sweep_outside(records: Path, folders: Container[Path | None]) -> None:
    """Removes dead processes' temporary files in these folders; those in other folders stay."""

    def release(record: Path) -> bool:
        place = Path(os.fsdecode(record.read_bytes()))
        if place.parent not in folders or not is_staged(records, place.name):
            return False
        place.unlink(missing_ok=True)
        return True

    sweep(records, release)


def _open(path: Path) -> int:
    """Creates and locks a file; tries again if a sweep removes it in between."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    while True:
        descriptor = os.open(path, flags, 0o666)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return descriptor
        os.close(descriptor)


def write_all(descriptor: int, chunk: bytes) -> None:
    """Writes every byte of ``chunk``, or raises an OSError."""
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def read_chunks(path: Path) -> Iterator[bytes]:
    with os.fdopen(open_regular(path), "rb") as file:
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
