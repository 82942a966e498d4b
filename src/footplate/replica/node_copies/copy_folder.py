"""The files of a copy of a bucket, opened without following a link that leads out of it.

The program may put links of any kind there, at any moment.
"""

from __future__ import annotations

import os

from footplate import safe_path
from footplate.domain.bucket_copying import find_problem

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator, Sequence

MAX_NAME_BYTES = 1024


def split(name: str) -> list[str] | None:
    """Returns the path of the object's file, in parts; None if no file can have this name."""
    parts = name[:-1].split("/") if name.endswith("/") else name.split("/")
    try:
        return None if any(find_problem(part) for part in parts) else parts
    except UnicodeEncodeError:
        return None


def identify(status: os.stat_result) -> str:
    """Returns what identifies one state of a file."""
    return f"f{status.st_ino}-{status.st_size}-{status.st_mtime_ns}"


def is_no_file(error: OSError) -> bool:
    """Returns whether the error means that there is no file of the folder with the name."""
    return isinstance(error, (FileNotFoundError, NotADirectoryError))


class CopyFolder:
    def __init__(self, root: str) -> None:
        self._root = root

    def files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Yields name and state of each file, and link to one, that can become an object."""
        for directory, _, names, _ in os.fwalk(self._root, onerror=_refuse):
            above = os.path.relpath(directory, self._root)
            for entry in sorted(names):
                name = entry if above == "." else f"{above}/{entry}"
                if not _can_be_named(name):
                    continue
                status = self.look_at(name.split("/"))
                if status is not None:
                    yield name, status

    def look_at(self, parts: Sequence[str]) -> os.stat_result | None:
        """Returns the state of the file; None if there is none.

        Raises OSError if it can't be opened now: its object must not be deleted then.
        """
        try:
            descriptor = self.open(parts)
        except OSError as error:
            if is_no_file(error):
                return None
            raise
        try:
            return os.fstat(descriptor)
        finally:
            os.close(descriptor)

    def open(self, parts: Sequence[str]) -> int:
        """Returns a descriptor, for reading, of a regular file; a link inside is followed once.

        Raises OSError: there is none, or it leads out of the folder.
        """
        return safe_path.open_file(self._root, parts)

    def place(self, source: str, parts: Sequence[str]) -> None:
        """Moves the file ``source`` to the path ``parts`` in the folder, and makes its directories.
        Raises OSError.
        """
        with safe_path.directory(self._root, parts[:-1], create=True) as parent:
            os.replace(source, parts[-1], dst_dir_fd=parent)

    def make_directory(self, parts: Sequence[str]) -> None:
        """Makes a directory, with those above it. Raises OSError."""
        with safe_path.directory(self._root, parts, create=True):
            return


def _refuse(error: OSError) -> None:
    """Raises the error of reading a file, unless the file is gone: the program may have
    removed it.
    """
    if not isinstance(error, FileNotFoundError):
        raise error


def _can_be_named(name: str) -> bool:
    """Returns whether an object can have the name of the file."""
    try:
        return len(name.encode()) <= MAX_NAME_BYTES and "\n" not in name and "\r" not in name
    except UnicodeEncodeError:
        return False
