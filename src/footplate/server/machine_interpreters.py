"""Finds the Python interpreters of this machine, for jobs that are about to be created."""

from __future__ import annotations

import os
import time
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from footplate.domain.formatting import joined
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.fetched_interpreters import FetchedInterpreters
from footplate.replica.environment.interpreters import Interpreters
from footplate.replica.environment.uv import Uv
from footplate.replica.program_spec import compose_build_environment
from footplate.server.interpreter_mirror import can_fetch

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

_TRUE, _NEVER = frozenset({"1", "true", "yes", "on"}), frozenset({"never", "false", "0"})
_REMEMBERED_S = 10
"""How long an absence is believed: uv takes a tenth of a second to look."""


class MachineInterpreters:
    """Finds the interpreters on this machine. ``globs`` is the setting ``pythons``.

    ``versions`` are those of all runtimes.
    """

    def __init__(
        self,
        globs: Sequence[str],
        cache: Path,
        uv: str,
        versions: Iterable[str],
        environ: Mapping[str, str] = os.environ,
        *,
        fetches: bool = False,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        self._globs = globs
        self._cache = cache
        self._uv = uv
        self._versions = sorted(set(versions), key=_numbers)
        self._environ = environ
        self._fetches = fetches
        self._now = now
        self._lock = Lock()
        self._found: dict[str, tuple[str, float]] = {}
        self._asking = Lock()  # of its own: jobs that need no mirror don't wait for one
        self._fetchable: dict[str, tuple[bool, float]] = {}

    def fault(self, version: str) -> str | None:
        """Returns why programs can't run on ``version``; None if an interpreter is installed or
        can be downloaded.
        """
        if self._find(version) or self._can_fetch(version):
            return None
        there = [each for each in self._versions if self._find(each)]
        has = f"has only {joined(there)}" if there else "has no Python interpreter for runtimes"
        fetched = ", and the server can't fetch an interpreter" if self._fetches else ""
        return (
            f"this machine {has}{fetched}; install Python {version} (for example with pyenv), "
            "name the interpreter in the setting pythons, or use another runtime"
        )

    def _find(self, version: str) -> str:
        """Returns an interpreter's path or ''. Searches again if the known one is gone."""
        with self._lock:
            path, since = self._found.get(version, ("", float("-inf")))
            fresh = Path(path).exists() if path else self._now() - since < _REMEMBERED_S
            if not fresh:
                path = self._search(version)
                self._found[version] = path, self._now()
            return path

    def _can_fetch(self, version: str) -> bool:
        if not self._fetches:
            return False
        with self._asking:
            answers, since = self._fetchable.get(version, (False, float("-inf")))
            if self._now() - since >= _REMEMBERED_S:
                answers = self._ask_mirror(version)
                self._fetchable[version] = answers, self._now()
            return answers

    def _ask_mirror(self, version: str) -> bool:
        if self._environ.get("UV_OFFLINE", "").lower() in _TRUE:
            return False
        if self._environ.get("UV_PYTHON_DOWNLOADS", "").lower() in _NEVER:
            return False
        try:
            return can_fetch(version, self._make_uv())
        except PreparationError:
            return False

    def _search(self, version: str) -> str:
        cache = str(self._cache)
        try:
            uv = self._make_uv()
            found = FetchedInterpreters(cache, uv).find(version)
            finder = Interpreters(self._globs, self._environ, cache, uv)
            return found or finder.find(version, "a runtime").path
        except PreparationError:
            return ""

    def _make_uv(self) -> Uv:
        """Returns uv's runner. Raises PreparationError if uv is missing."""
        return Uv(self._uv, compose_build_environment(self._environ))


def _numbers(version: str) -> list[int]:
    return [int(part) for part in version.split(".")]
