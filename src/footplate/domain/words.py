"""Names in sentences."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_SHOWN = 100


def quoted(name: str) -> str:
    """As it was given, short enough for a message."""
    return repr(name if len(name) <= _SHOWN else f"{name[:_SHOWN]}...")


def listed(names: Sequence[str], most: int = 8) -> str:
    """``a, b, c``, and how many more there are."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def joined(names: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def nearest(name: str, known: Collection[str], kind: str) -> str:
    """What to write in place of an unknown name; ``kind`` says what it names, for many."""
    near = get_close_matches(name[:_SHOWN], sorted(known), n=3, cutoff=0.6)
    if near:
        return f"did you mean {' or '.join(near)}?"
    return f"there are {len(known)} {kind}, such as {', '.join(sorted(known)[:3])}"
