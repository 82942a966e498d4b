"""File systems of their own, small enough to be filled."""

from __future__ import annotations

import subprocess
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


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
