"""Checks texts that must be stored and sent again."""

from __future__ import annotations

STORABLE = "text without U+0000 and unpaired surrogates"


def storable(text: str) -> bool:
    """Returns whether a text can be stored and sent: without NUL and lone surrogates."""
    try:
        return b"\0" not in text.encode()
    except UnicodeEncodeError:
        return False
