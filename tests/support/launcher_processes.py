"""The live launchers of this machine, by the patterns of their directories."""

from __future__ import annotations

from contextlib import suppress
from fnmatch import fnmatch
from pathlib import Path


def find_launchers(directories: str) -> tuple[int, ...]:
    """Those alone that run replicas, not their parents."""
    parents = find_with_parents(directories)
    return tuple(pid for pid in parents if pid not in parents.values())


def find_with_parents(directories: str) -> dict[int, int]:
    """Launchers and their parents, which look alike; of each, whose child it is."""
    found = {}
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            words = (entry / "cmdline").read_text().split("\0")
            if "launch" in words and any(fnmatch(word, directories) for word in words):
                status = (entry / "stat").read_text().rpartition(")")[2]
                found[int(entry.name)] = int(status.split()[1])
    return found
