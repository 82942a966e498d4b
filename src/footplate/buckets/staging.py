"""Files that become objects once all of their bytes are there."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

from footplate.buckets.digest import Digest
from footplate.buckets.disk_errors import told_to_clients

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@contextmanager
def staged(path: Path, chunks: Iterable[bytes]) -> Iterator[Digest]:
    """The file ``path`` with these bytes, on the disk for good; afterwards it is gone.

    Raises:
        Unavailable: the disk is full.
    """
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
    with told_to_clients():
        descriptor = os.open(path, flags, 0o666)
    try:
        try:
            digest = _fill(descriptor, chunks)
        finally:
            os.close(descriptor)
        yield digest
    finally:
        path.unlink(missing_ok=True)


def write_all(descriptor: int, chunk: bytes) -> None:
    """Every byte of ``chunk``, or an OSError."""
    rest = memoryview(chunk)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _fill(descriptor: int, chunks: Iterable[bytes]) -> Digest:
    digest = Digest()
    for chunk in chunks:
        with told_to_clients():
            write_all(descriptor, chunk)
        digest.add(chunk)
    with told_to_clients():
        os.fsync(descriptor)
    return digest
