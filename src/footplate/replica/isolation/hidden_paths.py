"""Hides directories from a program, except its own paths in them."""

from __future__ import annotations

import os
import stat

from footplate.replica.file_io import is_directory
from footplate.replica.isolation import syscalls
from footplate.replica.realpath import find_real

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterable, Sequence

_RECORDS = ".footplate"


class HiddenPaths:
    """The directories that a program may not see or change; all are real paths.

    ``hidden`` directories look empty and can't be written, except for paths in ``shown``, which
    look as on the host. ``sealed`` directories can only be read, except for shown paths below them.
    ``cover`` is an empty directory to create: it holds the mount points of shown paths that can't
    lie in memory.
    """

    __slots__ = ("cover", "hidden", "sealed", "shown")

    def __init__(
        self, cover: str, hidden: Sequence[str], shown: Sequence[str], sealed: Sequence[str]
    ) -> None:
        self.cover = cover
        self.hidden = hidden
        self.sealed: list[str] = [path for path in sealed if _is_reachable_directory(path)]
        below = [path for path in shown if is_below(path, [*hidden, *self.sealed])]
        below = [path for path in below if path not in self.sealed]
        self.shown: list[str] = [path for path in below if os.path.isdir(path)]

    def draw(self, host: str) -> None:
        """Hides the paths in this process's own mount namespace; the host's root is at ``host``.

        Raises OSError.
        """
        for path in self.hidden:
            os.makedirs(path, exist_ok=True)  # a private /tmp doesn't have it
            self._cover(host, path)
        for path in sorted({*self.sealed, *self.shown}):  # the outer ones first
            _show(host, path)
        for path in (*self.hidden, *self.sealed):
            # Last: the mount points of what is shown are made in these directories.
            syscalls.seal(path)

    def showing(self, path: str) -> HiddenPaths:
        """Returns the same hidden paths, except that ``path`` is shown too."""
        return HiddenPaths(self.cover, self.hidden, [*self.shown, path], self.sealed)

    def _cover(self, host: str, path: str) -> None:
        """Covers the path with a file system in memory, in which directories cost nothing."""
        try:
            syscalls.mount("tmpfs", path, syscalls.MS_NOSUID_NODEV_NOEXEC, "tmpfs", "mode=755")
        except OSError:  # a directory does, too
            os.makedirs(host + self.cover, exist_ok=True)
            syscalls.mount(host + self.cover, path, syscalls.MS_BIND)


def find_changeable(
    prefixes: Iterable[str], masked: Sequence[str], seen: Sequence[str]
) -> list[str]:
    """Returns paths with code of all jobs that an ordinary user who runs the service can change.

    These are the interpreters and modules below ``prefixes``, and uv's cache, to which environments
    are linked; without paths in ``masked``, except those in ``seen``. Programs of a service that
    root runs are other users, who can't change them anyway.
    """
    if os.geteuid() == 0:
        return []
    paths = [os.path.join(prefix, name) for prefix in prefixes for name in ("bin", "lib")]
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    paths.append(os.environ.get("UV_CACHE_DIR") or os.path.join(cache, "uv"))
    real = {find_real(path) for path in paths if _is_reachable_directory(path)}
    return sorted(
        path
        for path in real
        if os.stat(path).st_uid == os.geteuid()
        and (path in seen or is_below(path, seen) or not is_below(path, masked))
    )


def find_closed(paths: Iterable[str], replaced: Sequence[str] = ()) -> list[str]:
    """Returns the outermost directories that only their owner may pass on the way to these real
    paths.

    If such a directory is hidden except for the paths, other users reach the paths. Those in
    ``replaced`` don't count: the program has others in their places.
    """
    found: list[str] = []
    for path in paths:
        parts = path.split(os.path.sep)[1:-1]
        for count in range(1, len(parts) + 1):
            directory = os.path.sep + os.path.join(*parts[:count])
            if directory not in replaced and not _is_open(directory):
                found.append(directory)
                break
    return sorted(set(found))


def _is_open(directory: str) -> bool:
    try:
        return bool(os.stat(directory).st_mode & stat.S_IXOTH)
    except (FileNotFoundError, NotADirectoryError):
        return True


def find_records(buckets: str) -> str:
    """Returns the path of the service's own records among the buckets; '' if there are none.

    The service trusts these records, so programs may only read them.
    """
    path = os.path.join(buckets, _RECORDS)
    return path if buckets and is_directory(path) else ""


def find_hidden(paths: Iterable[object]) -> list[str]:
    """Returns the paths that can be hidden, as real paths, the outermost first. The root directory
    can't be hidden.
    """
    real = {find_real(str(path)) for path in paths}
    return sorted(path for path in real if path != os.path.sep and _is_reachable_directory(path))


def _is_reachable_directory(path: str) -> bool:
    """Returns whether the path is a directory that this process may enter; if it may not, programs
    may not either.

    Raises OSError: what can't be found out must not be left open.
    """
    try:
        return is_directory(path)
    except PermissionError:
        return False


def _show(host: str, path: str) -> None:
    os.makedirs(path, exist_ok=True)
    syscalls.bind_real(host, path, path)


def is_below(path: str, others: Iterable[str]) -> bool:
    return any(path.startswith(other + os.path.sep) for other in others)
