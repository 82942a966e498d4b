"""The files of a task that the service has put into its directory, in place of a connection."""

from __future__ import annotations

import os
import shutil


class GivenFiles:
    """``locks/SHA256`` and ``given/INDEX`` below ``home``."""

    def __init__(self, home: str) -> None:
        self._home = home

    def get(self, path: str) -> bytes:
        """A lock, by its path in the replica API. Raises OSError."""
        with open(os.path.join(self._home, "locks", os.path.basename(path)), "rb") as file:
            return file.read()

    def download(self, path: str, destination: str) -> None:
        """A package, by its path in the replica API. Raises OSError."""
        shutil.copyfile(os.path.join(self._home, "given", os.path.basename(path)), destination)
