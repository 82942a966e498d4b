"""Finds what packages use of TensorFlow, and looks into each once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import BinaryIO

from footplate.domain.errors import ServiceError
from footplate.domain.names import GcsUri
from footplate.domain.preview.source_patterns import Use, find_patterns
from footplate.ports.buckets import Buckets

_MOST_REMEMBERED = 10_000


class PackagePatterns:
    """Finds what packages use of TensorFlow that later versions lack or changed; thread-safe.

    It reads the packages from ``buckets``, and remembers what it found in each.
    """

    def __init__(
        self, buckets: Buckets, read_sources: Callable[[BinaryIO], Mapping[str, str]]
    ) -> None:
        """Prepares an empty cache; ``read_sources`` returns an archive's texts by their paths."""
        self._buckets = buckets
        self._read_sources = read_sources
        self._look = lru_cache(_MOST_REMEMBERED)(self._read)

    def find(self, uri: str) -> tuple[Use, ...]:
        """Returns what the package uses; nothing if it can't be read, which is reported later."""
        try:
            where = GcsUri.parse(uri, "packageUris")
            return self._look(where, self._buckets.stat(where.bucket, where.path).generation)
        except (ServiceError, OSError):  # then there is nothing to warn of
            return ()

    def _read(self, where: GcsUri, _generation: int) -> tuple[Use, ...]:
        with self._buckets.read(where.bucket, where.path) as file:
            return find_patterns(self._read_sources(file))
