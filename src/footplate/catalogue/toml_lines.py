"""Finds line numbers in a TOML file, which tomllib does not report."""

from __future__ import annotations

import re
import tomllib

Path = tuple[str | int, ...]
"""Keys and indexes from the root of a document."""

_BLANK = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"""{1,3}(?!")'
    r"|'''.*?'''{1,3}(?!')"
    r'|"(?:[^"\\\n]|\\.)*"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_ATOM = re.compile(r"[^\[\]{},#\"'\n]+")


def lines_of(text: str) -> dict[Path, int]:
    """Returns the line, counted from 1, of each path in ``text``, which tomllib has accepted.

    A table that several headers define has the line of the first one.
    """
    return _Scan(text.replace("\r\n", "\n")).run()


class _Scan:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._line = 1
        self._counted = 0
        self._found: dict[Path, int] = {}
        self._last: dict[Path, int] = {}
        """The last index of each array of tables."""

    def run(self) -> dict[Path, int]:
        table: Path = ()
        self._skip_blank()
        while self._at < len(self._text):
            table = self._header() if self._peek("[") else self._statement(table)
            self._skip_blank()
        return self._found

    def _header(self) -> Path:
        many = self._text.startswith("[[", self._at)
        self._at += 2 if many else 1
        *parents, name = self._keys()
        self._at += 2 if many else 1
        path = self._inside((), parents)
        path = (*path, name)
        if many:
            self._mark(path)
            self._last[path] = self._last.get(path, -1) + 1
            path = (*path, self._last[path])
        self._mark(path)
        return path

    def _inside(self, path: Path, keys: list[str]) -> Path:
        """Returns ``path`` with ``keys`` appended, and the last index of each array of tables."""
        for key in keys:
            path = (*path, key)
            self._mark(path)
            if path in self._last:
                path = (*path, self._last[path])
        return path

    def _statement(self, table: Path) -> Path:
        """Reads ``key = value``, and returns the table that contains it."""
        path = table
        for key in self._keys():
            path = (*path, key)
            self._mark(path)
        self._skip_blank()
        self._at += 1  # the equals sign
        self._skip_blank()
        self._value(path)
        return table

    def _value(self, path: Path) -> None:
        if self._peek("["):
            self._array(path)
        elif self._peek("{"):
            self._at += 1
            while not self._closes("}"):
                self._statement(path)
        elif string := _STRING.match(self._text, self._at):
            self._at = string.end()
        else:
            atom = _ATOM.match(self._text, self._at)
            self._at = atom.end() if atom else self._at + 1

    def _array(self, path: Path) -> None:
        self._at += 1
        index = 0
        while not self._closes("]"):
            self._mark((*path, index))
            self._value((*path, index))
            index += 1

    def _closes(self, bracket: str) -> bool:
        """Returns whether the bracket ends here; skips it, or the comma before the next item."""
        self._skip_blank()
        while self._peek(","):
            self._at += 1
            self._skip_blank()
        if self._at >= len(self._text):
            return True
        if self._peek(bracket):
            self._at += 1
            return True
        return False

    def _keys(self) -> list[str]:
        keys = [self._key()]
        while self._skip_blank() and self._peek("."):
            self._at += 1
            keys.append(self._key())
        return keys

    def _key(self) -> str:
        self._skip_blank()
        if bare := _BARE_KEY.match(self._text, self._at):
            self._at = bare.end()
            return bare[0]
        quoted = _STRING.match(self._text, self._at)
        if quoted is None:
            self._at += 1
            return ""
        self._at = quoted.end()
        return next(iter(tomllib.loads(f"{quoted[0]} = 0")))

    def _peek(self, character: str) -> bool:
        return self._text.startswith(character, self._at)

    def _skip_blank(self) -> bool:
        blank = _BLANK.match(self._text, self._at)
        self._at = blank.end() if blank else self._at
        return True

    def _mark(self, path: Path) -> None:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = self._at
        self._found.setdefault(path, self._line)
