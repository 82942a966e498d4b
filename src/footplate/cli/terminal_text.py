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
    """Returns ``text`` with control sequences (retitle, clear, paste, reverse) made visible.

    ``moving`` allows text that goes back within its line, as progress bars do; elsewhere a name
    that does so would look like another one. ``plain`` escapes colours too, since a name with
    colours could hide or change the text after it.
    """
    text = _COMMANDS.sub(_write_out, text)
    text = text if moving else _BACK.sub(_write_out, text)
    return text.replace("\x1b", "\\x1b") if plain else text


def spell_json(value: object, *, indent: int | None = None, sort_keys: bool = False) -> str:
    """Returns JSON with all characters unescaped but those that terminals take for commands."""
    text = json.dumps(value, indent=indent, sort_keys=sort_keys, ensure_ascii=False)
    return BEYOND_ASCII.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _write_out(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def clip(line: str, width: int) -> str:
    """Returns ``line``, cut to ``width`` columns with dots at its end if it is longer."""
    if width_of(line) <= width:
        return line
    room = max(0, width - len(_DOTS))
    ends = accumulate(map(width_of, line))
    return "".join(c for c, end in zip(line, ends, strict=True) if end <= room) + _DOTS


def width_of(text: str) -> int:
    """Returns the text's columns: a Chinese character takes two, a combining accent none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def _columns(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def pad(text: str, width: int, side: str = "left") -> str:
    """Returns ``text`` padded with blanks; it is aligned left, right, or in the center."""
    missing = max(0, width - width_of(text))
    if side == "right":
        return " " * missing + text
    if side == "center":
        return " " * (missing - missing // 2) + text + " " * (missing // 2)
    return text + " " * missing


def colourless() -> bool:
    """Returns whether the user wants no colours, or can't see any. Source: https://no-color.org."""
    return bool(os.environ.get("NO_COLOR")) or os.environ.get("TERM") == "dumb"
