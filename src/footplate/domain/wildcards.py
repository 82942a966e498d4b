"""Matches names of objects with wildcards, in a time that is linear in the name. Pure.

``*`` stands for any characters but a slash, ``**`` for any, ``?`` for one that is no slash.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(r"\*{2,}|.", re.DOTALL)
_WILDCARD = re.compile(r"[*?]")


def has_wildcard(path: str) -> bool:
    return _WILDCARD.search(path) is not None


def fixed_prefix(path: str) -> str:
    """Returns what every matching name begins with."""
    return _WILDCARD.split(path, maxsplit=1)[0]


class Wildcards:
    """A path with wildcards. A bit of an integer stands for a place between its characters."""

    def __init__(self, path: str) -> None:
        parts = [token[:2] for token in _TOKEN.findall(path)]
        self._end = 1 << len(parts)
        self._steps: dict[str, int] = {}
        self._one = self._star = self._many = 0
        for place, part in enumerate(parts):
            bit = 1 << place
            if part == "?":
                self._one |= bit
            elif part == "*":
                self._star |= bit
            elif part == "**":
                self._many |= bit
            else:
                self._steps[part] = self._steps.get(part, 0) | bit

    def match(self, name: str) -> bool:
        places = self._skip(1)
        for character in name:
            step, stay = self._steps.get(character, 0), self._many
            if character != "/":
                step, stay = step | self._one, stay | self._star
            places = self._skip((places & step) << 1 | places & stay)
            if not places:
                return False
        return bool(places & self._end)

    def _skip(self, places: int) -> int:
        """Adds the places after wildcards that stand for nothing; no two such are neighbours."""
        return places | (places & (self._star | self._many)) << 1
