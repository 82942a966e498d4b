"""Host directories outside the buckets that jobs may write to."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_KERNEL = (Path("/dev"), Path("/proc"), Path("/sys"))
_MAX_NAME_BYTES = 255


class HostDirectories:
    """``roots`` is the setting ``job_dir_roots``: directories are made below these only."""

    def __init__(self, roots: Sequence[Path]) -> None:
        self._roots = tuple(roots)

    def fault(self, path: str) -> str | None:
        """Why a job can't have the absolute path ``path`` as a directory; None: it can.

        Nothing is made. Symbolic links are followed first.
        """
        real = Path(os.path.realpath(path))
        if not any(real.is_relative_to(os.path.realpath(root)) for root in self._roots):
            listed = ", ".join(map(str, self._roots))
            allows = f"paths below {listed} only" if listed else "no paths of the machine"
            return (
                "allowed: gs://BUCKET/PATH; the setting job_dir_roots of the server "
                f"allows {allows}"
            )
        if any(real.is_relative_to(root) for root in _KERNEL):
            return "allowed: a directory of files, not one of the kernel's"
        if any(len(os.fsencode(name)) > _MAX_NAME_BYTES for name in real.parts):
            return f"allowed: names of at most {_MAX_NAME_BYTES} bytes"
        return _unwritable(real)


def _unwritable(path: Path) -> str | None:
    """``path`` or the nearest directory above it must take new files."""
    nearest = next(each for each in (path, *path.parents) if os.path.lexists(each))
    if not nearest.is_dir():
        return f"{nearest} is a file; allowed: a directory"
    if not os.access(nearest, os.W_OK | os.X_OK):
        return f"the server's user can't write into {nearest}; allowed: another directory"
    return None
