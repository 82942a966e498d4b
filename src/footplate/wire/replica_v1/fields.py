"""Reads and checks the fields of a record."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.job_states import Phase
from footplate.domain.jobs import Address
from footplate.wire.json_text import describe
from footplate.wire.log_severity import clean

MAX_TEXT_LENGTH = 4096
"""Of an event's message or an exit's cause; the rest is cut off."""
MAX_OPEN_PORTS = 16
_MAX_TIME = 253_402_300_799.0
_SPACES = re.compile(r"[\t\n\r]+")
_UNSEEN = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"
    r"|[\x00-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
_EVENT_KIND = re.compile(r"[A-Z][A-Z_]{0,63}")
_WORD = re.compile(r"[A-Za-z0-9-]{1,64}")
_HOST = re.compile(r"[A-Za-z0-9.:_-]{1,253}")
_MAX_PORT = 65535
_UNBOUNDED = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""How numbers travel that JSON doesn't have."""


class Fields:
    """The fields of one record; ``path`` is its place, for errors."""

    def __init__(self, record: object, path: str) -> None:
        if not isinstance(record, dict):
            raise wrong(path, record, "an object")
        self._record: Mapping[str, object] = record
        self._path = path

    def integer(self, name: str, least: int, most: int, default: int | None = None) -> int:
        value = self._record.get(name, default)
        if isinstance(value, int) and not isinstance(value, bool) and least <= value <= most:
            return value
        raise self._wrong(name, f"an integer from {least} to {most}")

    def maybe_integer(self, name: str, most: int) -> int | None:
        """Reads a number from 0 to ``most``; None: the field is missing."""
        return None if name not in self._record else self.integer(name, 0, most)

    def number(self, name: str, most: float) -> float:
        value = self._record.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= most:
            return float(value)  # NaN is neither less nor more
        raise self._wrong(name, f"a number from 0 to {most:g}")

    def maybe_number(self, name: str, most: float) -> float | None:
        """Reads a number; None: the field is missing."""
        return None if name not in self._record else self.number(name, most)

    def real(self, name: str) -> float:
        """Reads any number, even one that isn't finite."""
        value = self._record.get(name)
        if isinstance(value, str) and value in _UNBOUNDED:
            return _UNBOUNDED[value]
        most = sys.float_info.max  # NaN is neither less nor more
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and -most <= value <= most
        ):
            return float(value)
        raise self._wrong(name, f"a finite number, {', '.join(_UNBOUNDED)}")

    def flag(self, name: str) -> bool:
        """Reads a Boolean; False if the field is missing."""
        value = self._record.get(name, False)
        if isinstance(value, bool):
            return value
        raise self._wrong(name, "true, false")

    def parts(self, name: str, most: int) -> list[Fields]:
        """Reads a list of at most ``most`` objects; empty if the field is missing."""
        value = self._record.get(name, [])
        if not isinstance(value, list) or len(value) > most:
            raise wrong(f"{self._path}.{name}", None, f"a list of at most {most} objects")
        return [Fields(part, f"{self._path}.{name}[{index}]") for index, part in enumerate(value)]

    def word(self, name: str) -> str:
        value = self._record.get(name)
        if isinstance(value, str) and _WORD.fullmatch(value):
            return value
        raise self._wrong(name, "a short text of letters, digits and dashes")

    def address(self, phase: Phase) -> Address | None:
        if phase is not Phase.READY:
            return None
        host, ports = self._record.get("host"), self._record.get("open_ports", [])
        if not isinstance(host, str) or not _HOST.fullmatch(host):
            raise self._wrong("host", "the name or the number of a host")
        if not isinstance(ports, list) or len(ports) > MAX_OPEN_PORTS:
            raise wrong(f"{self._path}.open_ports", None, f"at most {MAX_OPEN_PORTS} ports")
        numbered = [Fields({"port": port}, self._path) for port in ports]
        opened = tuple(fields.integer("port", 1, _MAX_PORT) for fields in numbered)
        return Address(host, self.integer("port", 1, _MAX_PORT), opened)

    def time(self, name: str) -> datetime:
        value = self._record.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._wrong(name, "seconds since 1970")
        if 0 <= value <= _MAX_TIME:  # false for NaN, too
            return datetime.fromtimestamp(value, UTC)
        raise self._wrong(name, "seconds since 1970, before the year 10000")

    def choice(self, name: str, allowed: Sequence[str]) -> str:
        value = self._record.get(name)
        if isinstance(value, str) and value in allowed:
            return value
        raise self._wrong(name, ", ".join(allowed))

    def text(self, name: str, length: int) -> str:
        value = self._record.get(name)
        if isinstance(value, str) and len(value) <= length:
            return value
        raise self._wrong(name, f"a text of at most {length} characters")

    def clean_text(self, name: str, length: int) -> str:
        """Reads a text, and replaces characters that can't be stored."""
        return clean(self.text(name, length))

    def clean_texts(self, name: str, most: int, length: int) -> tuple[str, ...]:
        value = self._record.get(name)
        if not isinstance(value, list) or len(value) > most:
            raise wrong(f"{self._path}.{name}", None, f"a list of at most {most} texts")
        indexed = enumerate(value)
        texts = Fields({f"{name}[{index}]": text for index, text in indexed}, self._path)
        return tuple(texts.clean_text(f"{name}[{index}]", length) for index in range(len(value)))

    def cut_text(self, name: str) -> str:
        """Reads a text for the record of the job; shortens one that is too long."""
        value = self._record.get(name, "")
        if not isinstance(value, str):
            raise self._wrong(name, "a text")
        if len(value) > MAX_TEXT_LENGTH:
            value = f"{value[: MAX_TEXT_LENGTH - 3]}..."
        return clean(value)

    def line_text(self, name: str) -> str:
        """Reads a text as ``cut_text`` does, and makes it one line without control characters."""
        return _UNSEEN.sub("", _SPACES.sub(" ", self.cut_text(name)))

    def kind(self, name: str) -> str:
        value = self._record.get(name)
        if isinstance(value, str) and _EVENT_KIND.fullmatch(value):
            return value
        raise self._wrong(name, "capital letters and underscores")

    def _wrong(self, name: str, allowed: str) -> InvalidArgument:
        return wrong(f"{self._path}.{name}", self._record.get(name), allowed)


def wrong(path: str, given: object, allowed: str) -> InvalidArgument:
    shown = clean(describe(given)) if isinstance(given, str | int | float | None) else "no scalar"
    return InvalidArgument.of((Violation(path, f"{shown} given; allowed: {allowed}"),))
