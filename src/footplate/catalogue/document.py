"""A TOML file of the catalogue, and all errors found in it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path as File
from typing import Any

from footplate.catalogue.toml_lines import Path, lines_of
from footplate.domain.errors import InvalidArgument, Violation

_MAX_BYTES = 1 << 20
_WHERE = re.compile(r" \(at (?:line (\d+), column \d+|end of document)\)")
_BARE = re.compile(r"[A-Za-z0-9_-]{1,80}")


class Document:
    """A TOML file, which collects all its faults to report them together."""

    def __init__(self, name: str, text: str, folder: File = File()) -> None:
        """Parses the file; ``name`` is its name in errors, ``folder`` where it is.

        Raises InvalidArgument: the text isn't TOML.
        """
        self.name = name
        self.folder = folder
        self._text = text
        self._faults: dict[tuple[int, Violation], None] = {}
        self._origins: dict[Path, Path] = {}
        self.content: Mapping[str, object] = self._parse()

    @classmethod
    def read(cls, file: File) -> Document:
        """Reads a file. Raises InvalidArgument: the file doesn't exist, or isn't TOML."""
        name = str(file)
        try:
            with file.open("rb") as opened:
                raw = opened.read(_MAX_BYTES + 1)
        except OSError as error:
            raise _refusal(name, f"the file can't be read: {error.strerror}") from None
        if len(raw) > _MAX_BYTES:
            raise _refusal(name, f"the file is larger than {_MAX_BYTES >> 20} MiB")
        try:
            return cls(name, raw.decode(), file.parent)
        except UnicodeDecodeError:
            raise _refusal(name, "the file is not UTF-8 text") from None

    def fault(self, path: Path, description: str) -> None:
        """Records a fault at ``path``, once."""
        origin = self._origin(path)
        line = self._line(origin)
        place = f"{self.name}:{line}" if line else self.name
        violation = Violation(f"{place}: {shown_path(origin)}", description)
        self._faults[line, violation] = None

    def derive(self, path: Path, origin: Path) -> None:
        """Makes faults at ``path`` count as faults at ``origin``, unless the file has ``path``."""
        if not self._says(path):
            self._origins[path] = origin

    def has(self, path: Path) -> bool:
        """Returns whether the file has the path, or the path from which it was derived."""
        return self._says(self._origin(path))

    @property
    def faults(self) -> int:
        """Returns the number of faults found so far."""
        return len(self._faults)

    def refuse_faults(self) -> None:
        """Raises InvalidArgument with all faults, in the order of the lines, if there are any."""
        if self._faults:
            ordered = sorted(self._faults, key=lambda fault: fault[0])
            raise InvalidArgument.of(tuple(violation for _, violation in ordered))

    def _parse(self) -> Mapping[str, object]:
        try:
            return tomllib.loads(self._text)
        except RecursionError:
            raise _refusal(self.name, "the file is nested too deeply") from None
        except ValueError as error:
            where = _WHERE.search(str(error))
            end = self._text.count("\n") + 1
            place = f"{self.name}:{where[1] or end}" if where else self.name
            raise _refusal(place, f"the file is not TOML: {_WHERE.sub('', str(error))}") from None

    def _says(self, path: Path) -> bool:
        value: Any = self.content
        for part in path:
            try:
                value = value[part]
            except (KeyError, IndexError, TypeError):
                return False
        return True

    def _origin(self, path: Path) -> Path:
        for length in range(len(path), 0, -1):
            if (origin := self._origins.get(path[:length])) is not None:
                return (*origin, *path[length:])
        return path

    def _line(self, path: Path) -> int:
        """Returns the line of the nearest item around ``path``, within its entry; 0: none."""
        for length in range(len(path), min(len(path), 2) - 1, -1):
            if line := self._lines.get(path[:length]):
                return line
        return 0

    @cached_property
    def _lines(self) -> Mapping[Path, int]:
        try:
            return lines_of(self._text)
        except RecursionError:
            return {}


def shown_path(path: Path) -> str:
    """Formats a path: ``("a", "b", 0)`` as ``a.b[0]``, with keys in quotes if necessary."""
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            key = part if _BARE.fullmatch(part) else shown(part)
            text += f".{key}" if text else key
    return text or "(the file)"


def shown(value: object) -> str:
    """Returns the value as text short enough for a message."""
    try:
        text = repr(value).replace("\n", " ")
    except (ValueError, RecursionError):  # a number of thousands of digits
        text = f"a huge {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:80]}..."


def _refusal(place: str, description: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(place, description),))
