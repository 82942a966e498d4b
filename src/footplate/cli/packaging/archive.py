"""Source trees, and archives that are the same for the same content."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
import shutil
import tarfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_TIME = 315_619_200
"""1980-01-02, in seconds since 1970: zip files know no earlier time."""


@dataclass(frozen=True)
class Archive:
    """A package file: its name and content."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.content).hexdigest()

    def members(self) -> tuple[str, ...]:
        """Returns the names of the files in a .tar.gz."""
        with tarfile.open(fileobj=io.BytesIO(self.content), mode="r:gz") as tar:
            return tuple(member.name for member in tar if member.isfile())


@dataclass(frozen=True)
class Source:
    content: bytes
    executable: bool = False


def write_tar_gz(files: Mapping[str, Source]) -> bytes:
    """Returns a reproducible archive: files sorted, with a fixed time and no owner."""
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
    """Returns a .tar.gz with the same files, packed so that equal code has equal bytes."""
    files: dict[str, Source] = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:gz") as tar:
        for member in tar:
            data = tar.extractfile(member) if not member.isdir() else None
            if data is not None:
                files[member.name] = Source(data.read(), bool(member.mode & 0o100))
    return write_tar_gz(files)


_CACHES = frozenset(
    {
        "__pycache__",
        "node_modules",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".ruff_cache",
        ".pytest_cache",
        ".ipynb_checkpoints",
        ".DS_Store",
    }
)
_REPOSITORIES = frozenset({".git", ".hg", ".svn"})


def read_tree(root: Path) -> dict[str, Source]:
    """Returns the files below ``root`` by their path with slashes, without caches and repositories.

    Follows links, but not in circles.
    """
    return {
        path.relative_to(root).as_posix(): Source(path.read_bytes(), os.access(path, os.X_OK))
        for path in find_files(root)
    }


def find_files(root: Path) -> list[Path]:
    """Returns the paths of the files that ``read_tree`` reads."""
    return sorted(_walk(root, frozenset()))


def copy_tree(source: Path, target: Path) -> None:
    """Copies the source to build in. Repositories are included, since builds may read versions from
    them.

    Raises:
        InvalidArgument: a file can't be read; the message names it.
    """

    def ignore(folder: str, names: list[str]) -> list[str]:
        here = Path(folder)
        return [name for name in names if _derived(here / name) or _circular(here / name)]

    try:
        shutil.copytree(source, target, ignore=ignore, ignore_dangling_symlinks=True)
    except shutil.Error as error:
        path, _, reason = error.args[0][0]
        raise InvalidArgument(f"{path} can't be copied into the package: {reason}") from None


def _walk(folder: Path, above: frozenset[Path]) -> Iterator[Path]:
    real = folder.resolve()
    if real in above:
        return
    for path in folder.iterdir():
        if _derived(path) or path.name in _REPOSITORIES:
            continue
        if path.is_dir():
            yield from _walk(path, above | {real})
        elif path.is_file():
            yield path


def _derived(path: Path) -> bool:
    """Returns whether a tool made the file from sources, and can make it again."""
    return path.name in _CACHES or path.suffix == ".pyc" or (path / "pyvenv.cfg").exists()


def _circular(path: Path) -> bool:
    """Returns whether reading the path never ends: a circular link, a socket or a pipe."""
    if path.is_symlink() and path.is_dir():
        return path.parent.resolve().is_relative_to(path.resolve())
    return path.exists() and not path.is_dir() and not path.is_file()
