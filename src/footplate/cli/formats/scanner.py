"""Scans a text from left to right, and reports the position of errors."""

from __future__ import annotations

import re
from typing import NoReturn

from footplate.domain.errors import InvalidArgument

_SHOWN = 30
_QUOTED = re.compile(r"\"((?:[^\"\\]|\\.)*)\"|'((?:[^'\\]|\\.)*)'", re.DOTALL)
_ESCAPED_QUOTE = re.compile(r"\\([\"'\\])")
_SPACE = re.compile(r"\s*")


class Scanner:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def ended(self) -> bool:
        self.skip_space()
        return self.at >= len(self.text)

    def skip_space(self) -> None:
        space = _SPACE.match(self.text, self.at)
        self.at = space.end() if space else self.at

    def take(self, literal: str) -> bool:
        """Whether it comes next, past any space; then it is read."""
        self.skip_space()
        if not self.text.startswith(literal, self.at):
            return False
        self.at += len(literal)
        return True

    def require(self, literal: str) -> None:
        if not self.take(literal):
            self.refuse(f"{literal!r} is missing")

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """What matches ``pattern`` here, past any space, read; None: nothing does."""
        self.skip_space()
        found = pattern.match(self.text, self.at)
        if found is None:
            return None
        self.at = found.end()
        return found[0]

    def quoted(self) -> str | None:
        """A text in quotes, without them; None: none begins here. Raises InvalidArgument."""
        self.skip_space()
        found = _QUOTED.match(self.text, self.at)
        if found is None:
            if self.text[self.at : self.at + 1] in {'"', "'"}:
                self.refuse("a quote isn't closed")
            return None
        self.at = found.end()
        return _ESCAPED_QUOTE.sub(r"\1", found[1] if found[1] is not None else found[2])

    def refuse(self, problem: str, at: int | None = None) -> NoReturn:
        """Raise InvalidArgument that names the place: here, unless ``at`` says another."""
        place = self.at if at is None else at
        near = self.text[place : place + _SHOWN]
        where = f"at character {place + 1}, near {near!r}" if near else "at its end"
        raise InvalidArgument(f"{problem} {where}")
