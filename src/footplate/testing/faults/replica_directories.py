"""The replicas that a service has on this machine, as its data directory shows them."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_ATTEMPT = re.compile(r"([A-Za-z0-9_]+)-(\d+)")
_RESTART = "~"
"""Stands between the name of a replica and the number of its restart in place."""


@dataclass(frozen=True)
class Home:
    """The directory of one start of a replica; ``restart`` counts those of an attempt, from 0."""

    path: Path
    restart: int


@dataclass(frozen=True)
class Attempt:
    """One start of all replicas of a job. ``uid`` is the job's own id in that service."""

    uid: str
    number: int
    path: Path

    def homes(self) -> dict[str, Home]:
        """The newest of each replica, by its name; none once the attempt is cleared away."""
        newest: dict[str, Home] = {}
        with suppress(OSError):
            for path in self.path.iterdir():
                replica, _, restart = path.name.partition(_RESTART)
                home = Home(path, int(restart or 0))
                if home.restart >= newest.get(replica, home).restart:
                    newest[replica] = home
        return newest

    def job(self) -> str:
        """The job's resource name; empty until a supervisor has its task."""
        for home in self.homes().values():
            with suppress(OSError, ValueError, KeyError, TypeError):
                return str(json.loads((home.path / "task.json").read_bytes())["job"])
        return ""


def find_attempts(data_dir: Path) -> list[Attempt]:
    """Those that aren't cleared away, the oldest first."""
    found = []
    for path in (data_dir / "replicas").glob("*-*"):
        match = _ATTEMPT.fullmatch(path.name)
        with suppress(OSError):
            if match:
                attempt = Attempt(match.group(1), int(match.group(2)), path)
                found.append((path.stat().st_mtime_ns, attempt))
    return [attempt for _, attempt in sorted(found, key=lambda each: each[0])]
