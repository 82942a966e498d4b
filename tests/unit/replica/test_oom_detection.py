"""What is concluded from the kernel's counts of processes that it ended for want of memory."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from footplate.replica.context import Context
from footplate.replica.failure_advice import untold
from footplate.replica.isolation.containment import Containment
from footplate.replica.isolation.resource_limits import Limits
from footplate.replica.oom_detection import OTHERWISE, VMSTAT, OomWatch, describe_amounts, join

KILLED = 9
FAILED = 1 << 8
TERMINATED = 15


class CountingCage(Containment):
    def __init__(self, count: int | None) -> None:
        self.count = count

    def oom_kills(self) -> int | None:
        return self.count


class FakeDesk:
    """What the watch looks at of a desk."""

    def __init__(
        self, containment: Containment, limits: Limits | None = None, peak_bytes: int = 0
    ) -> None:
        self.containment = containment
        self.limits = limits
        self.peak_bytes = peak_bytes


def watch(containment: Containment, limits: Limits | None = None, vmstat: str = VMSTAT) -> OomWatch:
    return OomWatch(cast("Context", FakeDesk(containment, limits)), vmstat)


@pytest.mark.parametrize(
    ("count", "status", "fatal", "about"),
    [
        (0, KILLED, False, ""),
        (
            1,
            KILLED,
            True,
            ("the kernel killed the program: out of memory; machine type small has 0.5 GB"),
        ),
        (
            3,
            KILLED,
            True,
            ("the kernel killed the program: out of memory; machine type small has 0.5 GB"),
        ),
        (
            2,
            FAILED,
            False,
            (
                "the kernel killed 2 processes of the program: out of memory; machine "
                "type small has 0.5 GB"
            ),
        ),
        (
            1,
            TERMINATED,
            False,
            (
                "the kernel killed a process of the program: out of memory; machine "
                "type small has 0.5 GB"
            ),
        ),
    ],
)
def test_what_its_group_counts_is_certain(
    count: int,
    status: int,
    fatal: object,
    about: str,
) -> None:
    containment = CountingCage(5)
    watching = watch(containment, Limits("small", 512 << 20, 1))
    containment.count = 5 + count
    finding = watching.judge(status)
    assert (finding.fatal, finding.about) == (fatal, about)


@pytest.mark.parametrize(
    ("group", "count", "status", "otherwise"),
    [(5, 5, KILLED, OTHERWISE), (5, 5, FAILED, ""), (5, 6, KILLED, ""), (None, None, KILLED, "")],
)
def test_that_memory_was_not_the_cause_is_only_said_where_it_is_counted(
    group: int | None, count: int | None, status: int, otherwise: str
) -> None:
    containment = CountingCage(group)
    watching = watch(containment)
    containment.count = count
    assert watching.judge(status).otherwise == otherwise


def test_what_it_held_is_told_where_that_says_something(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal:       4194304 kB\nMemFree:  1 kB\n")
    there = "this machine has 4.0 GiB for all programs"
    large = f"the program used at least 3.0 GiB; {there}"
    for peak, words in ((0, there), (1 << 20, there), (3 << 30, large)):
        context = cast("Context", FakeDesk(CountingCage(0), None, peak))
        assert describe_amounts(context, str(meminfo)) == words
    limited = cast("Context", FakeDesk(CountingCage(0), Limits("small", 512 << 20, 1), 500 << 20))
    words = "the program used at least 500 MiB; machine type small has 0.5 GB"
    assert describe_amounts(limited, "/nowhere") == words
    assert describe_amounts(cast("Context", FakeDesk(CountingCage(0), None, 0)), "/nowhere") == ""


def test_what_the_cause_says_is_not_said_again() -> None:
    has = "machine type small has 0.5 GB"
    cause = f"the kernel killed the program: out of memory; {has}"
    assert untold(has, cause) == ""
    assert untold(f"the program used at least 500 MiB; {has}", cause) == (
        "the program used at least 500 MiB"
    )
    assert untold(has, "MemoryError") == has


def test_without_a_limit_of_its_own_the_machine_was_out_of_memory() -> None:
    containment = CountingCage(0)
    watching = watch(containment)
    containment.count = 1
    about = "the kernel killed the program: out of memory; this machine had no more memory"
    assert watching.judge(KILLED).about == about


def test_what_the_machine_counts_is_only_told(tmp_path: Path) -> None:
    vmstat = tmp_path / "vmstat"
    vmstat.write_text("nr_free_pages 1\noom_kill 3\n")
    watching = watch(CountingCage(None), vmstat=str(vmstat))
    assert watching.judge(KILLED).about == ""
    vmstat.write_text("nr_free_pages 1\noom_kill 4\n")

    finding = watching.judge(KILLED)
    assert not finding.fatal
    assert finding.about.startswith(
        "meanwhile this machine ran out of memory, and the kernel killed a process, perhaps the "
        "program"
    )
    assert watching.judge(FAILED).about == ""
    vmstat.unlink()
    assert watching.judge(KILLED).about == ""


def test_causes_are_joined() -> None:
    assert join("", "") == ""
    assert join("a", "") == "a"
    assert join("", "b") == "b"
    assert join("a", "b") == "a (b)"
