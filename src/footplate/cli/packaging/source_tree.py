"""Finds the source files in a user's tree."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.cli.packaging.archive import Source
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator

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
    """The files below ``root`` by their path with slashes; caches and repositories left out.

    Links are followed, but not in circles.
    """
    return {
        path.relative_to(root).as_posix(): Source(path.read_bytes(), os.access(path, os.X_OK))
        for path in sorted(_walk(root, frozenset()))
    }


def copy_tree(source: Path, target: Path) -> None:
    """A copy to build in. It keeps repositories: versions may be made from them.

    Raises:
        InvalidArgument: a file couldn't be read; names it.
    """

    def ignore(folder: str, names: list[str]) -> list[str]:
        here = Path(folder)
        return [name for name in names if _derived(here / name) or _circular(here / name)]

    try:
        shutil.copytree(source, target, ignore=ignore, ignore_dangling_symlinks=True)
    except shutil.Error as error:
        path, _, reason = error.args[0][0]
        raise InvalidArgument(f"{path} can't be copied for packaging: {reason}") from None


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
    """Made from the sources, by a tool that can make it again."""
    return path.name in _CACHES or path.suffix == ".pyc" or (path / "pyvenv.cfg").exists()


def _circular(path: Path) -> bool:
    """Also refuses sockets and pipes: reading those would wait for ever."""
    if path.is_symlink() and path.is_dir():
        return path.parent.resolve().is_relative_to(path.resolve())
    return path.exists() and not path.is_dir() and not path.is_file()
