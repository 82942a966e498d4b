"""Finds the Python interpreters of this machine, for jobs that are about to be created."""

from __future__ import annotations

import json
import os
import time
import urllib.request
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from footplate.domain.formatting import joined
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.fetched_interpreters import FetchedInterpreters
from footplate.replica.environment.interpreters import Interpreters
from footplate.replica.environment.uv import Uv, UvFailed
from footplate.replica.program_spec import compose_build_environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence


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


_TIMEOUT_S = 3
_OWN, _ORIGIN = "https://releases.astral.sh/github/", "https://github.com/astral-sh/"
"""uv's own mirror, and what it falls back to."""


def can_fetch(version: str, uv: Uv) -> bool:
    """Returns whether uv knows a build of this version, and the server that has it answers."""
    options = ["--only-downloads", "--show-urls", "--output-format", "json"]
    try:
        said = uv.run(["python", "list", f"cpython-{version}", *options])
        listed = json.loads(said[said.index("[") :])
        urls = [str(each["url"]) for each in listed if each["implementation"] == "cpython"]
    except (UvFailed, ValueError, KeyError, TypeError):
        return False
    return any(_answers(url) for url in urls[:1] for url in _places(url))


def _places(url: str) -> Iterator[str]:
    yield url
    if url.startswith(_OWN):
        yield _ORIGIN + url.removeprefix(_OWN)


def _answers(url: str) -> bool:
    parts = urlsplit(url)
    if parts.scheme == "file":
        return Path(unquote(parts.path)).is_file()
    if parts.scheme not in ("http", "https"):
        return False
    request = urllib.request.Request(url, method="HEAD")  # noqa: S310  checked above
    try:
        with urllib.request.urlopen(request, timeout=_TIMEOUT_S):  # noqa: S310
            return True
    except (OSError, ValueError):  # whatever is the matter, uv would get nothing either
        return False
