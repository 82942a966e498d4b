"""Sanitizes text from programs: removes control sequences."""

from __future__ import annotations

import re

_TERMINAL = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|[\x00-\x08\x0a-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
_TABS = re.compile(r"\t+")


def make_plain(text: str) -> str:
    """One line, without terminal commands, and without characters that can't be seen."""
    if text.isascii() and text.isprintable():
        return text
    return _TABS.sub(" ", _TERMINAL.sub("", text))
