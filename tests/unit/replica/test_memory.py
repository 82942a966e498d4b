"""What is concluded from the kernel's counts of processes that it ended for want of memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest

from footplate.replica.isolation.cage import Cage
from footplate.replica.isolation.limits import Limits
from footplate.replica.memory import VMSTAT, OomWatch, join

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.replica.desk import Desk

KILLED = 9
FAILED = 1 << 8
TERMINATED = 15


class CountingCage(Cage):
    def __init__(self, count: int | None) -> None:
        self.count = count

    def oom_kills(self) -> int | None:
        return self.count


class FakeDesk:
    """What the watch looks at of a desk."""

    def __init__(self, cage: Cage, limits: Limits | None = None) -> None:
        self.cage = cage
        self.limits = limits


def watch(cage: Cage, limits: Limits | None = None, vmstat: str = VMSTAT) -> OomWatch:
    return OomWatch(cast("Desk", FakeDesk(cage, limits)), vmstat)


@pytest.mark.parametrize(
    ("count", "status", "fatal", "about"),
    [
        (0, KILLED, False, ""),
        (1, KILLED, True, "the kernel ended it: out of memory; its machine small has 0.5 GB"),
        (3, KILLED, True, "the kernel ended it: out of memory; its machine small has 0.5 GB"),
        (
            2,
            FAILED,
            False,
            "the kernel ended 2 of its processes: out of memory; its machine small has 0.5 GB",
        ),
        (
            1,
            TERMINATED,
            False,
            "the kernel ended 1 of its processes: out of memory; its machine small has 0.5 GB",
        ),
    ],
)
def test_what_its_group_counts_is_certain(
    count: int,
    status: int,
    fatal: object,
    about: str,
) -> None:
    cage = CountingCage(5)
    watching = watch(cage, Limits("small", 512 << 20, 1))
    cage.count = 5 + count
    finding = watching.judge(status)
    assert (finding.fatal, finding.about) == (fatal, about)


def test_without_a_limit_of_its_own_the_machine_was_out_of_memory() -> None:
    cage = CountingCage(0)
    watching = watch(cage)
    cage.count = 1
    about = "the kernel ended it: out of memory; this machine had no more"
    assert watching.judge(KILLED).about == about


def test_what_the_machine_counts_is_only_told(tmp_path: Path) -> None:
    vmstat = tmp_path / "vmstat"
    vmstat.write_text("nr_free_pages 1\noom_kill 3\n")
    watching = watch(CountingCage(None), vmstat=str(vmstat))
    assert watching.judge(KILLED).about == ""
    vmstat.write_text("nr_free_pages 1\noom_kill 4\n")

    finding = watching.judge(KILLED)
    assert not finding.fatal
    assert finding.about.startswith("meanwhile the kernel ended a process of this machine")
    assert watching.judge(FAILED).about == ""
    vmstat.unlink()
    assert watching.judge(KILLED).about == ""


def test_causes_are_joined() -> None:
    assert join("", "") == ""
    assert join("a", "") == "a"
    assert join("", "b") == "b"
    assert join("a", "b") == "a (b)"
