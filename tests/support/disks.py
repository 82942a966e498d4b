"""File systems of their own, small enough to be filled, and one that only says how full it is."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footplate.domain.disk_state import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@dataclass
class SaidDisk:
    """Free bytes, as the kernel would say them; a reserve isn't counted."""

    f_bavail: int = 100 * MIB
    f_frsize: int = 1

    def look(self, _path: Path) -> Any:
        return self


@contextmanager
def small_disk(path: Path, size: str) -> Iterator[Path]:
    """An empty one at ``path``, of a ``size`` as mount knows it (``16m``); for root on Linux."""
    path.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "footplate-test", str(path)]
    subprocess.run(mount, check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def fill(disk: Path) -> None:
    """To the last page; again, what has become free meanwhile."""
    with (disk / "ballast").open("ab", buffering=0) as file, suppress(OSError):
        while file.write(bytes(1 << 16)):
            pass
