"""Digests of packages, each computed once."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from threading import Lock

from footplate.domain.names import GcsUri
from footplate.ports.buckets import Buckets

MOST_BYTES = 64 << 20
"""Larger ones take longer to read than looking their environment up takes without a hash."""
_MOST_REMEMBERED = 10_000
_CHUNK_BYTES = 1 << 20


class PackageDigests:
    """The digests of packages, which are objects of ``buckets``; thread-safe."""

    def __init__(self, buckets: Buckets) -> None:
        self._buckets = buckets
        self._known: OrderedDict[tuple[str, int], str] = OrderedDict()
        self._mutex = Lock()

    def sha256(self, uri: str) -> str:
        """Returns a package's SHA-256 in hexadecimal; '' above ``MOST_BYTES``, or if it changes.

        Raises NotFound.
        """
        where = GcsUri.parse(uri, "packageUris")
        info = self._buckets.stat(where.bucket, where.path)
        if info.size_bytes > MOST_BYTES:
            return ""
        key = uri, info.generation
        with self._mutex:
            known = self._known.get(key, "")
        return known or self._read(where, key)

    def _read(self, where: GcsUri, key: tuple[str, int]) -> str:
        digest = hashlib.sha256()
        with self._buckets.read(where.bucket, where.path) as file:
            while chunk := file.read(_CHUNK_BYTES):
                digest.update(chunk)
        # If it was replaced while it was read, the bytes may be those of another generation.
        if self._buckets.stat(where.bucket, where.path).generation != key[1]:
            return ""
        with self._mutex:
            self._known[key] = digest.hexdigest()
            if len(self._known) > _MOST_REMEMBERED:
                self._known.popitem(last=False)
        return digest.hexdigest()
