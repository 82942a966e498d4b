"""What somebody may have meant by a name that isn't known."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_LONGEST = 100
"""Longer names aren't compared: nobody meant one, and comparing takes the square of the length."""
_MANY = 12
"""More names than these nobody reads."""


def did_you_mean(given: object, known: Iterable[str]) -> str:
    """``did you mean n1-standard-4?``, or all that there is where that is little; else nothing."""
    names = list(known)
    near: list[str] = []
    if isinstance(given, str):
        near = get_close_matches(given[:_LONGEST], names, n=2, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there are {', '.join(names)}" if 0 < len(names) <= _MANY else ""
