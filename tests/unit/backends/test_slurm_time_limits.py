"""The limit of a job's time in Slurm, by what sinfo and slurmrestd say of partitions."""

from __future__ import annotations

import pytest

from footplate.backends.engine.engine import JobRequest, LauncherRequest
from footplate.backends.slurm.job_script import SlurmSettings
from footplate.backends.slurm.time_limits import (
    Limits,
    PartitionLimits,
    read_partitions,
    read_rest_partitions,
)

SINFO = "pool*|infinite\nshort|30:00\nlong|2-12:00:00\nodd|n/a\n"
LIMITS: Limits = {"": None, "pool": None, "short": 30, "long": 3600, "odd": None}
OLD = [
    {"name": "pool", "flags": ["default"], "max_time_limit": 4294967295},
    {"name": "short", "flags": [], "max_time_limit": 30},
    {"name": "long", "max_time_limit": 3600},
    {"name": "odd", "max_time_limit": -1},
]
"""As recorded of v0.0.38."""


def in_new_form(minutes: int | None) -> dict[str, object]:
    value = {"set": minutes is not None, "infinite": minutes is None, "number": minutes or 0}
    return {"maximums": {"time": value}}


def minutes(limit_s: float, settings: SlurmSettings, machine: str = "m") -> int | None:
    request = JobRequest("j", "r", (LauncherRequest("a", machine),), b"", limit_s)
    return PartitionLimits(settings, lambda: read_partitions(SINFO)).choose_minutes(request)


def test_what_is_read_of_partitions() -> None:
    assert read_partitions(SINFO) == LIMITS
    assert read_rest_partitions(OLD) == LIMITS
    new = [{"name": name, **in_new_form(LIMITS[name])} for name in LIMITS if name]
    assert read_rest_partitions(new) == {name: LIMITS[name] for name in LIMITS if name}


@pytest.mark.parametrize(
    ("limit_s", "settings", "expected"),
    [
        (0.0, SlurmSettings(), None),
        (3601.0, SlurmSettings(), 61),
        (3601.0, SlurmSettings(partition="short"), 30),
        (3600.0, SlurmSettings(partition="long"), 60),
        (3600.0, SlurmSettings(options=("-p", "long,short")), 30),
        (3600.0, SlurmSettings(partition="long", options=("-pshort",)), 30),
        (3600.0, SlurmSettings(machines={"m": ("--partition=short",)}), 30),
        (3600.0, SlurmSettings(partition="gone"), None),
        (3600.0, SlurmSettings(options=("--time=5",)), None),
        (3600.0, SlurmSettings(options=("-t5",)), None),
        (3600.0, SlurmSettings(machines={"m": ("-t", "5")}), None),
        (3600.0, SlurmSettings(options=("--time-min=5", "--tmp=5")), 60),
    ],
)
def test_the_limit_is_the_jobs_or_what_its_partition_allows(
    limit_s: float, settings: SlurmSettings, expected: int | None
) -> None:
    assert minutes(limit_s, settings) == expected


def test_partitions_are_asked_for_once_and_only_for_a_limit() -> None:
    asked: list[int] = []

    def read() -> Limits:
        asked.append(1)
        return LIMITS

    limits = PartitionLimits(SlurmSettings(), read)
    for limit_s in (0.0, 60.0, 120.0):
        limits.choose_minutes(JobRequest("j", "r", (LauncherRequest("a"),), b"", limit_s))
    assert len(asked) == 1
