"""Reproducible archives: their bytes depend only on the files in them."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

_TIME = 315_619_200
"""1980-01-02, in seconds since 1970: zip files know no earlier time."""


@dataclass(frozen=True)
class Archive:
    """A package file, by its name and content."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def members(self) -> tuple[str, ...]:
        """The names of the files in a .tar.gz."""
        with tarfile.open(fileobj=io.BytesIO(self.content), mode="r:gz") as tar:
            return tuple(member.name for member in tar if member.isfile())


@dataclass(frozen=True)
class Source:
    content: bytes
    executable: bool = False


def write_tar_gz(files: Mapping[str, Source]) -> bytes:
    """The same files make the same bytes: sorted, with a fixed time and no owner."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for name in sorted(files):
            source = files[name]
            member = tarfile.TarInfo(name)
            member.size = len(source.content)
            member.mtime = _TIME
            member.mode = 0o755 if source.executable else 0o644
            tar.addfile(member, io.BytesIO(source.content))
    return gzip.compress(buffer.getvalue(), mtime=0)


def normalise(content: bytes) -> bytes:
    """The files of a .tar.gz, packed so that two builds of the same code are equal."""
    files: dict[str, Source] = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as tar:
        for member in tar:
            data = tar.extractfile(member) if not member.isdir() else None
            if data is not None:
                files[member.name] = Source(data.read(), bool(member.mode & 0o100))
    return write_tar_gz(files)
