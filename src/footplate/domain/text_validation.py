"""Checks texts that must be stored and sent again."""

from __future__ import annotations

STORABLE = "text without U+0000 and unpaired surrogates"


def storable(text: str) -> bool:
    """PostgreSQL has no NUL in texts, and nobody has half a surrogate pair in UTF-8."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
