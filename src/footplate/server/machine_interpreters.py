"""Finds the Python interpreters of this machine, for jobs that are about to be created."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from footplate.domain.formatting import joined
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.interpreters import Interpreters
from footplate.replica.environment.uv import Uv
from footplate.replica.program_spec import compose_build_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_REMEMBERED_S = 10
"""How long an absence is believed: uv takes a tenth of a second to look."""


class MachineInterpreters:
    """``globs`` is the setting ``pythons``; ``versions`` are those of all runtimes."""

    def __init__(
        self,
        globs: Sequence[str],
        cache: Path,
        uv: str,
        versions: Iterable[str],
        environ: Mapping[str, str] = os.environ,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._globs = globs
        self._cache = cache
        self._uv = uv
        self._versions = sorted(set(versions), key=_numbers)
        self._environ = environ
        self._now = now
        self._lock = Lock()
        self._found: dict[str, tuple[str, float]] = {}

    def fault(self, version: str) -> str | None:
        """Returns why programs can't run on ``version``; None where an interpreter is found."""
        if self._find(version):
            return None
        there = [each for each in self._versions if self._find(each)]
        has = f"has only {joined(there)}" if there else "has none that a runtime needs"
        return (
            f"this machine {has}; install it (`uv python install {version}`, or pyenv), name it "
            "in the setting pythons, or use another runtime"
        )

    def _find(self, version: str) -> str:
        """The path of an interpreter; '' where there is none. What has gone is looked for anew."""
        with self._lock:
            path, since = self._found.get(version, ("", float("-inf")))
            fresh = Path(path).exists() if path else self._now() - since < _REMEMBERED_S
            if not fresh:
                path = self._search(version)
                self._found[version] = path, self._now()
            return path

    def _search(self, version: str) -> str:
        environment = compose_build_environment(self._environ)
        try:
            uv = Uv(self._uv, environment)
            finder = Interpreters(self._globs, self._environ, str(self._cache), uv)
            return finder.find(version, "a runtime").path
        except PreparationError:
            return ""


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
