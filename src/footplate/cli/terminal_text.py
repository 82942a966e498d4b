"""Makes untrusted text safe for a terminal; colours and widths."""

from __future__ import annotations

import json
import os
import re
import unicodedata
from itertools import accumulate

_TURNS = r"\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
"""What turns the order of characters, or ends a line: a name would pass for another one."""
_COMMANDS = re.compile(
    rf"\x1b(?!\[[0-9;:]*m)|[\x00-\x07\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f{_TURNS}]"
)
"""Control characters, but for colours, and what moves within the line: tabs, progress bars."""
_BACK = re.compile(r"[\x08\r]")
_DOTS = "..."
BEYOND_ASCII = re.compile(rf"[\x7f-\x9f{_TURNS}]")


def disarm(text: str, *, moving: bool = False, plain: bool = False) -> str:
    """``text`` with what would make a terminal act (retitle, clear, paste, turn) written out.

    ``moving``: it may go back within its line, as progress bars do. Else that is written out, too:
    a name that does so would pass for another one. ``plain``: colours are written out as well. A
    name with one would hide or dress up all that follows it.
    """
    text = _COMMANDS.sub(_write_out, text)
    text = text if moving else _BACK.sub(_write_out, text)
    return text.replace("\x1b", "\\x1b") if plain else text


def spell_json(value: object, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """JSON in the characters as they are, but for those that terminals take for commands."""
    text = json.dumps(value, indent=indent, sort_keys=sort_keys, ensure_ascii=False)
    return BEYOND_ASCII.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _write_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def clip(line: str, width: int) -> str:
    """``line``, or as much of it as fits so many columns, with dots at its end."""
    if width_of(line) <= width:
        return line
    room = max(0, width - len(_DOTS))
    ends = accumulate(map(width_of, line))
    return "".join(c for c, end in zip(line, ends, strict=True) if end <= room) + _DOTS


def width_of(text: str) -> int:
    """Returns how many columns the text takes: a Chinese character two, a combining accent none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def pad(text: str, width: int, side: str = "left") -> str:
    """``text`` filled up with blanks; it stands left, right, or in the center."""
    missing = max(0, width - width_of(text))
    if side == "right":
        return " " * missing + text
    if side == "center":
        return " " * (missing - missing // 2) + text + " " * (missing // 2)
    return text + " " * missing


def colourless() -> bool:
    """Returns whether the user wants no colours, or can't see any. Source: https://no-color.org."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
