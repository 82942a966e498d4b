"""A test of a record's bytes: whether it can hold a line that a search wants.

Decoding a record takes ten times as long as looking at its bytes, and searches decode few.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from footplate.logs.log_records import encode_text

if TYPE_CHECKING:
    from footplate.domain.log_lines import Screen

MayHold = Callable[[bytes], bool]
_ATTEMPT_AT = 31
"""Behind the timestamp, which is of fixed width."""


def compile_screen(screen: Screen) -> MayHold | None:
    """Returns a test, False only for records that the filter excludes; None: no test needed."""
    tests: list[MayHold] = []
    if screen.attempt:
        tests.append(_starts(f"{screen.attempt},".encode()))
    if screen.replica:
        tests.append(_holds(encode_text(screen.replica)))
    if screen.severities:
        names = "|".join(sorted(map(re.escape, screen.severities)))
        tests.append(_matches(re.compile(f'"(?:{names})"'.encode())))
    if screen.contains:
        tests.append(_says(encode_text(screen.contains)[1:-1].lower()))
    if not tests:
        return None
    return tests[0] if len(tests) == 1 else lambda text: all(test(text) for test in tests)


def _starts(attempt: bytes) -> MayHold:
    return lambda text: text.startswith(attempt, _ATTEMPT_AT)


def _holds(part: bytes) -> MayHold:
    return lambda text: part in text


def _matches(pattern: re.Pattern[bytes]) -> MayHold:
    return lambda text: pattern.search(text) is not None


def _says(part: bytes) -> MayHold:
    """Returns a test for a text in any case, which is True for records beyond ASCII."""
    return lambda text: part in text.lower() or not text.isascii()
