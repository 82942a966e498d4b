"""Compares a package's ``python_requires`` with a version of Python, as pip does.

uv looks at lower bounds alone. pip, and so Google's service, refuses ``<3.9`` under Python 3.11.
"""

from __future__ import annotations

import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Tuple

    Numbers = Tuple[int, ...]

_FIELD = re.compile(r"^requires-python:(.*)$", re.IGNORECASE | re.MULTILINE)
_CLAUSE = re.compile(r"(===?|~=|!=|<=?|>=?)\s*v?([0-9]{1,9}(?:\.[0-9]{1,9})*)(\.\*)?")


def read_required(metadata: str) -> str:
    """Returns the field Requires-Python of a METADATA text; '' if it has none."""
    found = _FIELD.search(metadata.partition("\n\n")[0])
    return found.group(1).strip() if found else ""


def admits(required: str, version: str) -> bool:
    """Returns whether a version like 3.11.7 satisfies all conditions of ``required``.

    Conditions in another form, of pre-releases, for example, count as satisfied.
    """
    numbers = _numbers(version)
    clauses = (_CLAUSE.fullmatch(clause.strip()) for clause in required.split(","))
    return all(
        _holds(found.group(1), _numbers(found.group(2)), numbers, prefix=bool(found.group(3)))
        for found in clauses
        if found is not None
    )


def _holds(operator: str, bound: Numbers, version: Numbers, *, prefix: bool) -> bool:
    if operator == "~=":
        return _pad(version) >= _pad(bound) and version[: len(bound) - 1] == bound[:-1]
    if operator in ("==", "===", "!="):
        same = version[: len(bound)] == bound if prefix else _pad(version) == _pad(bound)
        return same != (operator == "!=")
    low, high = _pad(bound), _pad(version)
    return {"<": high < low, "<=": high <= low, ">": high > low, ">=": high >= low}[operator]


def _numbers(version: str) -> Numbers:
    return tuple(int(number) for number in version.split("."))


def _pad(numbers: Numbers) -> Numbers:
    """Returns the numbers padded with zeros: 3.11 is 3.11.0."""
    return numbers + (0,) * (4 - len(numbers))
