"""Lock files of the catalogue, for builds without a server."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from footplate.domain.runtimes import Runtimes


class CatalogueLocks:
    def __init__(self, runtimes: Runtimes) -> None:
        self._runtimes = runtimes

    def fetch_lock(self, sha256: str, directory: str) -> str:
        """The path of a lock in ``directory``. Raises NotFound, OSError."""
        path = Path(directory, f"{sha256}.txt")
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.{os.getpid()}.part")
            part.write_text(self._runtimes.lock_text(sha256), encoding="utf-8")
            part.replace(path)
        return str(path)
