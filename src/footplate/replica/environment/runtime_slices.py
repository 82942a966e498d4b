"""Chooses the smallest part of a runtime that a program needs, by scanning its sources."""

from __future__ import annotations

import posixpath
import re

from footplate.protocol.task import SLICE_VARIABLE
from footplate.replica.environment.errors import PreparationError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Iterable, Sequence

    from footplate.protocol.task import Slice

_TEXT_BYTES = 4 << 20
_SOURCES = (
    *(".py", ".pyx", ".ipynb", ".sh", ".cfg", ".ini", ".toml", ".txt"),
    *(".json", ".yaml", ".yml"),
)
_NOTHING_NAMED = (
    "your code names no other package of the runtime. If the program lacks a package, name it in "
    "the code or in setup.py's install_requires. A job of Vertex AI gets the whole runtime with "
    f"{SLICE_VARIABLE}=full in its env"
)
_NAME = re.compile(r"[A-Za-z0-9_]+")


class Words:
    """The words that decide on slices, each with the place where it was first seen."""

    def __init__(self, wanted: Iterable[str]) -> None:
        self._wanted = frozenset(wanted)
        self.places: dict[str, str] = {}

    def see(self, text: str, place: str) -> None:
        """Records the names in ``text``, whole and in their parts between underscores."""
        for name in set(_NAME.findall(text)):
            for word in (name, *name.split("_")):
                if word in self._wanted:
                    self.places.setdefault(word, place)

    def see_file(self, archive: str, name: str, stream: IO[bytes]) -> None:
        """Records the names in a member of an archive, if it is source code and doesn't describe
        the package.
        """
        suffix = posixpath.splitext(name)[1].lower()
        about = ".egg-info/" in name or ".dist-info/" in name
        if suffix in _SOURCES and not about:
            text = stream.read(_TEXT_BYTES).decode("utf-8", "replace")
            self.see(text, f"{posixpath.basename(name)} of {archive}")

    def see_requirement(self, name: str, place: str) -> None:
        self.see(name.lower().replace("-", "_").replace(".", "_"), place)


class Choice:
    """A slice and the reason for it. ``fallbacks`` are slices to use if it can't be had."""

    def __init__(self, chosen: Slice, fallbacks: list[Slice], reason: str) -> None:
        self.slice = chosen
        self.fallbacks = fallbacks
        self.reason = reason


def choose(slices: Sequence[Slice], words: Words, forced: str) -> Choice:
    """Returns the smallest slice that has all that the words name; ``forced`` names one instead.

    Raises:
        PreparationError: there is no slice of the name ``forced``.
    """
    chosen = [index for index, piece in enumerate(slices) if not piece.fallback]
    if forced:
        index = _find(slices, chosen, forced)
        reason = f"the job's env has {SLICE_VARIABLE}={forced}"
        if forced == "full":  # the server sets it where a command runs
            reason = f"the job runs a command, or {reason}"
        return _make(slices, index, reason if len(chosen) > 1 else "")
    reasons = []
    for index in chosen[:-1]:
        found = sorted(words.places.keys() & slices[index].unless)
        if not found:
            return _make(slices, index, _NOTHING_NAMED)
        reasons.append(f"{words.places[found[0]]} names {found[0]}")
    return _make(slices, chosen[-1], reasons[0] if reasons else "")


def _find(slices: Sequence[Slice], chosen: list[int], forced: str) -> int:
    if forced == "full":
        return chosen[-1]
    for index in chosen:
        if slices[index].name.lower() == forced.lower():
            return index
    allowed = ", ".join(["full", *(slices[index].name for index in chosen)])
    raise PreparationError(f"{SLICE_VARIABLE} is {forced!r} in the job's env; allowed: {allowed}")


def _make(slices: Sequence[Slice], index: int, reason: str) -> Choice:
    fallbacks = []
    for piece in slices[index + 1 :]:
        if not piece.fallback:
            break
        fallbacks.append(piece)
    return Choice(slices[index], fallbacks, reason)
