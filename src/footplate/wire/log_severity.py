"""Finds the severity of a log line: structured JSON, or common prefixes.

A line that is a JSON object with a text ``message`` is structured: its message is that text, and
its severity comes from ``severity``, ``level``, ``levelname`` or ``levelno``. In any other line a
prefix tells the severity, as Python's logging, absl and glog, TensorFlow, and the warnings module
write it; else stdout is INFO and stderr ERROR, as the training services have it, but for the
states of progress bars, which are INFO on both.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn

SEVERITIES = (
    "DEFAULT",
    "DEBUG",
    "INFO",
    "NOTICE",
    "WARNING",
    "ERROR",
    "CRITICAL",
    "ALERT",
    "EMERGENCY",
)
"""Of Cloud Logging, by gravity; each is worth 100 more than the one before."""

_BY_NAME = {name: name for name in SEVERITIES} | {
    "TRACE": "DEBUG",
    "INFORMATION": "INFO",
    "WARN": "WARNING",
    "ERR": "ERROR",
    "FATAL": "CRITICAL",
    "PANIC": "ALERT",
}
_BY_LETTER = {"D": "DEBUG", "I": "INFO", "W": "WARNING", "E": "ERROR", "F": "CRITICAL"}
_BY_STREAM = {"stdout": "INFO", "stderr": "ERROR", "progress": "INFO"}
_KEYS = ("severity", "level", "levelname", "levelno")

_MAX_DEPTH = 50
_PREFIX_LENGTH = 200
"""No prefix is longer; what comes after isn't looked at."""

_NAME = r"(?P<name>TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|CRITICAL|FATAL)"
_DATE = r"\d{4}[-/]\d\d[-/]\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?"
_PREFIXES = tuple(
    re.compile(pattern, re.ASCII)
    for pattern in (
        rf"\[?{_NAME}(?:\]|:|\s+-|\s*\|)",
        rf"\[?{_DATE}\]?[:,]?\s+(?:[-|]\s+)?\[?{_NAME}\b",
        rf"{_DATE}\s+-\s+[\w.-]{{1,80}}\s+-\s+{_NAME}\s+-",
        rf"{_DATE}: (?P<letter>[DIWEF]) ",
        r"(?P<letter>[DIWEF])\d{4} \d\d:\d\d:\d",
        r"\S{1,150}:\d{1,7}: (?P<warning>\w{0,40}Warning): ",
    )
)


@dataclass(frozen=True)
class Reading:
    """A log line with its severity; ``payload`` is the line if it is a JSON object."""

    severity: str
    message: str
    payload: str = ""


def read_line(stream: str, text: str) -> Reading:
    """Returns severity and message of a line of ``stdout``, ``stderr`` or ``progress``."""
    document = _parse(text) if text[:1] in "{ \t" and text.rstrip().endswith("}") else None
    if document is None:
        return Reading(_prefixed(text) or _default(stream), clean(text))
    severity = _stated(document) or _default(stream)
    message = document.get("message")
    if not isinstance(message, str):
        return Reading(severity, clean(text))
    return Reading(severity, clean(message), clean(_encode(document)))


def clean(text: str) -> str:
    """Replaces characters that other programs refuse: NUL and lone surrogates."""
    text = text.replace("\x00", "\ufffd")
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def _default(stream: str) -> str:
    return _BY_STREAM.get(stream, "DEFAULT")


def _prefixed(text: str) -> str | None:
    head = text[:_PREFIX_LENGTH]
    for pattern in _PREFIXES:
        if match := pattern.match(head):
            found = match.groupdict()
            if name := found.get("name"):
                return _BY_NAME[name]
            if letter := found.get("letter"):
                return _BY_LETTER[letter]
            return "WARNING"
    return None


def _stated(document: Mapping[str, object]) -> str | None:
    for key in _KEYS:
        value = document.get(key)
        if isinstance(value, str) and value.upper() in _BY_NAME:
            return _BY_NAME[value.upper()]
        if isinstance(value, int | float) and not isinstance(value, bool) and value >= 0:
            return _ranked(value)
    return None


def _ranked(number: float) -> str:
    """Returns the severity of a number: Cloud Logging's from 100 on, Python's below."""
    if number >= 100:
        return SEVERITIES[min(int(number // 100), len(SEVERITIES) - 1)]
    python = ("DEFAULT", "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")
    return python[min(int(number // 10), len(python) - 1)]


def _parse(text: str) -> Mapping[str, object] | None:
    try:
        value = json.loads(text, parse_constant=_refuse, parse_float=_finite, parse_int=_integer)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) and is_plain(value) else None


def is_plain(document: object) -> bool:
    """Returns whether all JSON readers should accept a document: it isn't deep, and has no NUL."""
    level: list[object] = [document]
    for _ in range(_MAX_DEPTH):
        inner: list[object] = []
        for value in level:
            if isinstance(value, dict):
                inner += [*value, *value.values()]
            elif isinstance(value, list):
                inner += value
            elif isinstance(value, str) and "\x00" in value:
                return False
        if not inner:
            return True
        level = inner
    return False


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(text)
    return number


def _integer(text: str) -> int | float:
    """Reads an integer as Cloud Logging does: one beyond 64 bits becomes a double."""
    number = int(text)
    return number if -(1 << 63) <= number < 1 << 63 else _finite(text)


_encode = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
