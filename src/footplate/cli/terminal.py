"""What may go to a terminal: text of others, colours."""

from __future__ import annotations

import os
import re

_COMMANDS = re.compile(r"\x1b(?!\[[0-9;:]*m)|[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]")
"""Control characters, but for colours, and what moves within the line: tabs, progress bars."""


def disarm(text: str) -> str:
    """``text`` with what would make a terminal act (retitle, clear, paste, report) written out."""
    return _COMMANDS.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def clip(line: str, width: int) -> str:
    """``line``, or as much of it as fits, with dots at its end."""
    return line if len(line) <= width else f"{line[: max(0, width - 3)]}..."


def colourless() -> bool:
    """Whether whoever looks wants no colours. Source: https://no-color.org."""
    return bool(os.environ.get("NO_COLOR"))
