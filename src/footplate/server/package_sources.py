"""Reads the sources of packages as text, and runs nothing of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import IO, BinaryIO

from footplate.domain.preview.source_patterns import METADATA
from footplate.replica.environment.archive_inspection import inspect_open
from footplate.replica.environment.errors import PreparationError

MAX_ARCHIVE_BYTES = 16 << 20
MAX_UNPACKED_BYTES = 64 << 20
MAX_SOURCE_BYTES = 256 << 10
"""The limit of one file. What is longer is data, or made by a tool."""
MAX_SOURCES_BYTES = 4 << 20
"""The limit of all files together."""
_TOP = re.compile(r"-\d")
"""The mark of the folder in which a source distribution has everything."""


class PackageSources:
    """The source texts of packages by their paths, within limits."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self._left = MAX_SOURCES_BYTES

    def read_archive(self, file: BinaryIO) -> None:
        """Reads a .tar.gz, .zip or wheel up to an unsafe member or a limit; ignores others."""
        content = file.read(MAX_ARCHIVE_BYTES + 1)
        is_zip = content.startswith(b"PK")
        if len(content) > MAX_ARCHIVE_BYTES or not (is_zip or content.startswith(b"\x1f\x8b")):
            return
        with suppress(PreparationError):
            inspect_open(
                BytesIO(content), "", self._see, is_zip=is_zip, limit_bytes=MAX_UNPACKED_BYTES
            )

    def read_files(self, root: Path, paths: Iterable[Path]) -> None:
        """Reads files below ``root``; skips those that can't be read."""
        for path in paths:
            try:
                with path.open("rb") as file:
                    self._see(path.relative_to(root).as_posix(), file)
            except OSError:  # then there is nothing to warn of
                continue

    def _see(self, name: str, stream: IO[bytes]) -> None:
        parts = name.removeprefix("./").split("/")
        if len(parts) > 1 and _TOP.search(parts[0]):
            del parts[0]
        path = "/".join(parts)
        if not (path.endswith(".py") or METADATA.search(path)) or any(map(_is_test, parts)):
            return
        content = stream.read(min(self._left, MAX_SOURCE_BYTES) + 1)
        if len(content) > min(self._left, MAX_SOURCE_BYTES):
            return
        self._left -= len(content)
        self.texts.setdefault(path, content.decode("utf-8", "replace"))


def read_sources(file: BinaryIO) -> dict[str, str]:
    """Returns the texts of an archive by their paths."""
    sources = PackageSources()
    sources.read_archive(file)
    return sources.texts


def _is_test(part: str) -> bool:
    return part in ("test", "tests") or part.startswith("test_")
