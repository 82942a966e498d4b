"""Formats names and lists in sentences."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from difflib import SequenceMatcher, get_close_matches

_SHOWN = 100
_OFFERED = 3


def shortened(text: str) -> str:
    """Returns the text cut to the length that a message can show."""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


def quoted(name: str) -> str:
    """Returns the name in quotes as it was given, short enough for a message."""
    return repr(shortened(name))


def listed(names: Sequence[str], most: int = 8) -> str:
    """Joins names as ``a, b, c``, and says how many more there are than ``most``."""
    shown = ", ".join(names[:most])
    return f"{shown} and {len(names) - most} more" if len(names) > most else shown


def joined(names: Sequence[str]) -> str:
    """Joins names as ``a, b and c``."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)


def nearest(name: str, known: Collection[str], kind: str) -> str:
    """Suggests known names in place of an unknown one; ``kind`` is their plural noun."""
    near = _alike(name[:_SHOWN], known) or _containing(name, known)
    if near:
        return f"did you mean {' or '.join(near[:_OFFERED])}?"
    return f"there are {len(known)} {kind}, such as {', '.join(sorted(known)[:3])}"


def _alike(name: str, known: Collection[str]) -> list[str]:
    """Returns similar names, the most similar first; equally similar ones alphabetically."""
    near = get_close_matches(name, known, n=len(known) or 1, cutoff=0.6)
    return sorted(near, key=lambda other: (-SequenceMatcher(None, other, name).ratio(), other))


def _containing(name: str, known: Collection[str]) -> list[str]:
    """Returns the names that contain ``name``, which may be an abbreviation such as ``T4``."""
    short = name.casefold()
    return sorted(other for other in known if len(short) > 1 and short in other.casefold())


def last_line(text: str) -> str:
    """Returns the last line with words in it, cut to 500 characters; empty: there is none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")[:500]
