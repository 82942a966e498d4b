"""A cache of isolation features known to work since the machine booted.

It holds for those with the same rights. A container that is made anew with fewer, or another user
with the same cache, tries again.
"""

from __future__ import annotations

import json
import os

from footplate.replica.file_io import read_text
from footplate.replica.isolation.procfs import boot_id

_RIGHTS = ("Uid:", "CapEff:", "NoNewPrivs:", "Seccomp:")


class CapabilityCache:
    """Kept in the file ``path``, for all supervisors that share it; empty: in none.

    What can't be read or written is only tried again.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._standing = [boot_id(), *_read_rights()]
        self._proved: set[str] = set()
        try:
            kept = json.loads(read_text(path))
            if kept["standing"] == self._standing:
                self._proved.update(map(str, kept["proved"]))
        except (OSError, ValueError, KeyError, TypeError):
            pass

    def __contains__(self, what: str) -> bool:
        return what in self._proved

    def add(self, what: str) -> None:
        known = what in self._proved
        self._proved.add(what)
        if known or not self._path:
            return
        part = f"{self._path}.{os.getpid()}.part"
        try:
            with open(part, "w", encoding="utf-8") as file:
                json.dump({"standing": self._standing, "proved": sorted(self._proved)}, file)
            os.replace(part, self._path)
        except OSError:
            pass


def _read_rights() -> list[str]:
    """What this process may do, as far as the kernel tells."""
    try:
        lines = read_text("/proc/self/status").splitlines()
    except OSError:
        return []
    return [line.strip() for line in lines if line.startswith(_RIGHTS)]
