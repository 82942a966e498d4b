"""Computes checksums of a stream."""

from __future__ import annotations

import hashlib
from typing import BinaryIO

import google_crc32c

CHUNK_BYTES = 1 << 20


class Digest:
    """Computes CRC32C, MD5 and the number of bytes of a stream."""

    def __init__(self) -> None:
        self.size_bytes = 0
        self.crc32c = 0
        self._md5 = hashlib.md5(usedforsecurity=False)

    @property
    def md5(self) -> bytes:
        return self._md5.digest()

    def add(self, chunk: bytes) -> None:
        self.size_bytes += len(chunk)
        self.crc32c = google_crc32c.extend(self.crc32c, chunk)
        self._md5.update(chunk)


def digest_file(file: BinaryIO) -> Digest:
    digest = Digest()
    while chunk := file.read(CHUNK_BYTES):
        digest.add(chunk)
    return digest


def checksum_file(file: BinaryIO, size_bytes: int) -> int | None:
    """Returns the CRC32C of the first ``size_bytes``; None if the file has become shorter."""
    crc32c = 0
    while size_bytes and (chunk := file.read(min(CHUNK_BYTES, size_bytes))):
        crc32c = google_crc32c.extend(crc32c, chunk)
        size_bytes -= len(chunk)
    return None if size_bytes else crc32c
