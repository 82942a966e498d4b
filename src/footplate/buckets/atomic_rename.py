"""Renames a finished file to the path of its object; removes directories that no object needs."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from footplate import safe_path
from footplate.buckets.empty_directories import remove_empty_tree
from footplate.buckets.names import ObjectPath
from footplate.domain.errors import Aborted, InvalidArgument

_ATTEMPTS = 5


def move_into(folder: Path, path: ObjectPath, source: Path, *, clear: bool) -> None:
    """Moves ``source`` to the path in one step, durably.

    ``clear`` removes a directory at that path, if it contains nothing but directories.

    Raises:
        InvalidArgument: a directory is at the path, or a file where a directory is needed.
        Aborted: the directory repeatedly vanishes.
    """
    name = "/".join(path.parts)
    for _ in range(_ATTEMPTS):
        try:
            with (
                refusing_clashes(name),
                safe_path.directory(folder, path.parents, create=True, durable=True) as parent,
            ):
                if clear and _is_directory(path.last, parent):
                    remove_empty_tree(path.last, parent)
                os.rename(source, path.last, dst_dir_fd=parent)
                os.fsync(parent)
                return
        except FileNotFoundError:  # a program has removed the directory meanwhile
            continue
    raise Aborted(f"another program keeps deleting the folder of object {name!r}; try again")


def remove_empty_directories(
    folder: Path, parts: tuple[str, ...], has_object: Callable[[tuple[str, ...]], bool]
) -> None:
    """Removes the directory ``parts``, and parents that contain only directories.

    ``has_object(parts)`` returns whether a directory, or one below it, is an object itself.
    Failures are ignored: an empty directory that remains isn't listed.
    """
    while parts and not has_object(parts):
        try:
            with safe_path.directory(folder, parts[:-1]) as parent:
                if not remove_empty_tree(parts[-1], parent):
                    return
        except FileNotFoundError:
            pass  # a program was faster
        except OSError:  # it isn't empty, or stays as an empty one
            return
        parts = parts[:-1]


@contextmanager
def refusing_clashes(name: str) -> Iterator[None]:
    """Context manager that refuses a name that would be a file and a directory at once.

    A folder can't hold both.
    """
    try:
        yield
    except (NotADirectoryError, IsADirectoryError):
        raise InvalidArgument(
            f"object name {name[:100]!r}: GCS would accept the name, but this bucket is a "
            "folder. There a path can't be a file and a directory at once, or lead through a link"
        ) from None


def _is_directory(name: str, parent: int) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(name, dir_fd=parent).st_mode)
    except FileNotFoundError:
        return False
