"""Reads the statistics file of a reduction server."""

from __future__ import annotations

import json
import os
import stat

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

_MODULE = "footplate_reduction"
_VARIABLE = "FOOTPLATE_REDUCTION_STATS"
_MOST_BYTES = 4096
_HIGHEST = 1e15
_FIELDS = {"reduced_bytes": ("received_bytes", int), "awaited_s": ("waiting_s", float)}
"""Of a sample: of which field of the file, and as what."""


def find(task: Mapping[str, Any], work: str) -> str:
    """The file of the program; empty where it is no reduction server. ``work``: where it runs."""
    if task["program"].get("module") != _MODULE:
        return ""
    pairs = [pair for pair in task.get("environment") or () if isinstance(pair, list)]
    variables = {pair[0]: pair[1] for pair in pairs if len(pair) == 2}
    name = os.path.basename(str(variables.get(_VARIABLE) or ""))
    return os.path.join(work, name) if name else ""


def read(path: str) -> dict[str, float]:
    """Fields of a sample, of what only grows: nothing yet while the file isn't there, and none of
    what is no such file.

    Its writer is a program as any other: neither is it waited for, nor what it says believed.
    """
    try:
        statistics = json.loads(_read(path))
    except FileNotFoundError:
        return {field: kind() for field, (_, kind) in _FIELDS.items()}
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(statistics, dict):
        return {}
    found = {}
    for field, (name, kind) in _FIELDS.items():
        value = statistics.get(name)
        if isinstance(value, (int, float)) and 0 <= value <= _HIGHEST:  # false for NaN
            found[field] = kind(value)
    return found


def _read(path: str) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError("not a file")
        return os.read(descriptor, _MOST_BYTES)
    finally:
        os.close(descriptor)
