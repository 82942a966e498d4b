"""A pool of root directories with mount points, reused by later programs.

There are some twenty of these places. A file system like ext4 looks at what was removed in the
last seconds whenever it makes one: where jobs are short, that is most of what a view costs.
"""

from __future__ import annotations

import os
import stat

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

MOST = 64
"""More roots than these aren't kept."""
MODE = 0o1777
"""The mode of /tmp: a program makes directories like /app there, as the root of an image does."""
_DIRECTORY = "directory"
_FILE = "file"
_LINK = "link to "


class RootDirectory:
    """A directory with all mount points in it, unchanged since it was taken."""

    __slots__ = ("_changed_ns", "_pool", "path")

    def __init__(self, path: str, pool: str) -> None:
        """Raises OSError."""
        self.path = path
        self._pool = pool
        self._changed_ns = os.stat(path).st_ctime_ns

    def give_back(self, name: str) -> bool:
        """Keeps it for another program, under a ``name`` that no other root has.

        Only when nothing of the program is left: it would have the same root. What a program has
        made in it, or changed of it, keeps it from others.
        """
        try:
            if os.stat(self.path).st_ctime_ns != self._changed_ns:
                return False
            os.makedirs(self._pool, mode=0o700, exist_ok=True)
            if len(os.listdir(self._pool)) >= MOST:
                return False
            os.rename(self.path, os.path.join(self._pool, name))
        except OSError:  # it goes with the home
            return False
        return True


def take(path: str, pool: str, added: Sequence[str]) -> RootDirectory | None:
    """Returns a root at ``path``, where nothing is yet: one from ``pool``, or a new one.

    It has places for all that the host's root has, and for the directories ``added``. None where
    there can't be one: the view then makes its places itself.
    """
    try:
        wanted = {**_read("/"), **dict.fromkeys(added, _DIRECTORY)}
        if not _move(path, pool, wanted):
            _make(path, wanted)
        return RootDirectory(path, pool)
    except OSError:  # as said above
        return None


def _move(path: str, pool: str, wanted: dict[str, str]) -> bool:
    """Returns whether there was one to take. One unlike the host's root goes with our home."""
    try:
        names = os.listdir(pool)
    except OSError:  # one is made
        return False
    for number, name in enumerate(names):
        try:
            os.rename(os.path.join(pool, name), path)
        except OSError:  # another supervisor was faster
            continue
        if os.lstat(path).st_mode == stat.S_IFDIR | MODE and _read(path) == wanted:
            return True
        os.rename(path, f"{path}.{number}")
    return False


def _make(path: str, wanted: dict[str, str]) -> None:
    os.mkdir(path)
    os.chmod(path, MODE)
    for name, kind in wanted.items():
        place = os.path.join(path, name)
        if kind == _DIRECTORY:
            os.mkdir(place)
        elif kind == _FILE:
            os.close(os.open(place, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600))
        else:
            os.symlink(kind[len(_LINK) :], place)


def _read(root: str) -> dict[str, str]:
    """Returns what is there, by name. Raises OSError."""
    found: dict[str, str] = {}
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.is_symlink():
                found[entry.name] = _LINK + os.readlink(entry.path)
            elif entry.is_dir():
                found[entry.name] = _DIRECTORY
            elif entry.is_file():
                found[entry.name] = _FILE
    return found
