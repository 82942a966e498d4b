"""Marks environments of the cache that jobs of a persistent resource have used: those stay.

``kept/OWNER/KIND-KEY`` is an empty file for each of them. Its owner's server removes the marks.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence

_ROOT = "kept"
_OWNER = re.compile(r"[0-9A-Za-z]{1,64}")


def keep(cache: str, owner: str, uses: Sequence[str]) -> None:
    """Marks environments as in use by ``owner``; ``uses`` are names like ``layers/KEY``. Does
    nothing if no mark can be written.
    """
    if not _OWNER.fullmatch(owner):
        return
    folder = os.path.join(cache, _ROOT, owner)
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for use in uses:
            mark = os.path.join(folder, use.replace("/", "-"))
            os.close(os.open(mark, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600))
    except OSError:  # as said above
        return


def kept(cache: str, but: str = "") -> set[str]:
    """Returns the environments that owners keep, except the owner ``but``."""
    root = os.path.join(cache, _ROOT)
    return {use for owner in _names(root) if owner != but for use in kept_by(cache, owner)}


def kept_by(cache: str, owner: str) -> set[str]:
    marks = _names(os.path.join(cache, _ROOT, owner))
    return {mark.replace("-", "/", 1) for mark in marks}


def release(cache: str, owner: str) -> None:
    """Removes all marks of the owner. Raises OSError."""
    folder = os.path.join(cache, _ROOT, owner)
    for mark in _names(folder):
        os.unlink(os.path.join(folder, mark))
    try:
        os.rmdir(folder)
    except FileNotFoundError:
        return


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except (FileNotFoundError, NotADirectoryError):
        return []
