"""The time limit in Slurm of a job whose running time is limited."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from footplate.backends.engine.engine import JobRequest
from footplate.backends.slurm import job_script
from footplate.backends.slurm.job_script import SlurmSettings

_DAY_MINUTES = 24 * 60
Limits = dict[str, "int | None"]
"""The most minutes of each partition, None without a limit; ``""`` is the default partition."""
_KEEP_S = 600.0
_INFINITE = (1 << 32) - 2
"""From here on slurmrestd's numbers mean that there is none, or no limit."""


class PartitionLimits:
    """The limits of partitions as ``read`` returns them, kept for some minutes."""

    def __init__(self, settings: SlurmSettings, read: Callable[[], Limits]) -> None:
        self._settings = settings
        self._read = read
        self._known: Limits = {}
        self._until_s = float("-inf")

    def choose_minutes(self, request: JobRequest) -> int | None:
        """Returns the minutes for ``--time``: those of the job, or of its partition if that allows
        less, where a longer job would never start.

        None: the job or its partition isn't known to have a limit, or the region sets another one.
        Raises EngineUnavailable.
        """
        options = job_script.submit_options(self._settings, request)
        if not request.limit_s or find_option(options, "--time", "-t") is not None:
            return None
        if time.monotonic() > self._until_s:
            self._known, self._until_s = self._read(), time.monotonic() + _KEEP_S
        names = (find_option(options, "--partition", "-p") or "").split(",")
        if not all(name in self._known for name in names):
            return None
        most = [minutes for name in names if (minutes := self._known[name]) is not None]
        return min([math.ceil(request.limit_s / 60), *most])


def find_option(options: Sequence[str], long: str, short: str) -> str | None:
    """Returns the value of an option of sbatch, the last one if it is repeated; None: no value."""
    found = None
    for word, following in zip(options, (*options[1:], ""), strict=True):
        if word in (long, short):
            found = following
        elif word.startswith(f"{long}="):
            found = word.partition("=")[2]
        elif word.startswith(short) and not word.startswith("--"):
            found = word[len(short) :]
    return found


def read_partitions(text: str) -> Limits:
    """Returns the limits in the output of ``sinfo --noheader -a -o '%P|%l'``."""
    limits: Limits = {}
    for line in text.splitlines():
        name, _, limit = line.strip().partition("|")
        limits[name.rstrip("*")] = minutes = _read_minutes(limit)
        if name.endswith("*"):
            limits[""] = minutes
    return limits


def _read_minutes(text: str) -> int | None:
    """Returns the minutes of a time as sinfo prints it, ``[D-][[H:]M:]S``; None: no limit."""
    days, _, clock = text.rpartition("-")
    parts = clock.split(":")
    if not all(part.isdigit() for part in (*parts, days or "0")):
        return None
    hours, minutes = [0, 0, *(int(part) for part in parts)][-3:-1]
    return int(days or 0) * _DAY_MINUTES + hours * 60 + minutes


def read_rest_partitions(partitions: Iterable[Mapping[str, Any]]) -> Limits:
    """Returns the limits in slurmrestd's list of partitions; v0.0.38 has other fields than later
    versions.
    """
    limits: Limits = {}
    for each in partitions:
        value = each.get("max_time_limit", (each.get("maximums") or {}).get("time"))
        if isinstance(value, dict):
            value = value.get("number") if value.get("set") and not value.get("infinite") else None
        known = isinstance(value, int) and 0 <= value < _INFINITE
        limits[str(each.get("name"))] = minutes = value if known else None
        if "default" in [str(flag).lower() for flag in each.get("flags") or ()]:
            limits[""] = minutes
    return limits
