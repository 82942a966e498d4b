"""Where a program's group can be made, and what is written into it: on trees of plain files.

What the kernel makes of it the end-to-end tests see.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.protocol.task import Allotment
from footplate.replica.isolation.cgroup_hierarchies import Hierarchy, find_hierarchies
from footplate.replica.isolation.resource_limits import (
    Limits,
    find_parents,
    limit_cpu,
    limit_memory,
    limit_processes,
)

GB = 1 << 30


@pytest.fixture
def unified(tmp_path: Path) -> Hierarchy:
    """system.slice/footplate.service, below a root that hands down everything."""
    own = tmp_path / "system.slice" / "footplate.service"
    own.mkdir(parents=True)
    for group in (own, own.parent, tmp_path):
        (group / "cgroup.subtree_control").write_text("")
        (group / "memory.max").write_text("max\n")
        (group / "cpu.max").write_text("max 100000\n")
        (group / "cpuset.cpus").write_text("\n")
    return Hierarchy(str(tmp_path), str(own))


def test_a_group_that_hands_memory_down_comes_first(unified: Hierarchy, tmp_path: Path) -> None:
    own = unified.own
    assert list(find_parents(unified, enable=False)) == [own]

    (tmp_path / "system.slice" / "cgroup.subtree_control").write_text("cpu memory pids\n")
    slice_ = os.path.dirname(own)  # noqa: PTH120  as the supervisor's
    assert list(find_parents(unified, enable=False)) == [slice_, own]


@pytest.mark.parametrize(
    ("name", "bound"),
    [("memory.max", "1000"), ("cpu.max", "50000 100000"), ("cpuset.cpus", "0-3")],
)
def test_nothing_leads_out_of_limits_that_hold_for_the_service(
    unified: Hierarchy, tmp_path: Path, name: str, bound: str
) -> None:
    (tmp_path / "system.slice" / "cgroup.subtree_control").write_text("cpu memory\n")
    (tmp_path / "system.slice" / "footplate.service" / name).write_text(f"{bound}\n")
    assert list(find_parents(unified, enable=False)) == [unified.own]


def test_nothing_is_changed_unless_asked_for(unified: Hierarchy, tmp_path: Path) -> None:
    control = tmp_path / "system.slice" / "footplate.service" / "cgroup.subtree_control"
    list(find_parents(unified, enable=False))
    assert control.read_text() == ""
    list(find_parents(unified, enable=True))
    assert control.read_text() in ("+memory", "+cpu", "+pids")


@pytest.mark.parametrize(
    ("files", "written"),
    [
        (["memory.max"], {"memory.max": str(4 * GB), "memory.swap.max": "0"}),
        (
            ["memory.limit_in_bytes"],
            {"memory.limit_in_bytes": str(4 * GB), "memory.memsw.limit_in_bytes": str(4 * GB)},
        ),
    ],
)
def test_memory_is_limited_with_swap(
    tmp_path: Path, files: list[str], written: dict[str, str]
) -> None:
    for name in files:
        (tmp_path / name).touch()
    assert limit_memory([str(tmp_path)], 4 * GB) == ""
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == written


def test_cpus_are_limited_together(tmp_path: Path) -> None:
    (tmp_path / "new").mkdir()
    (tmp_path / "new" / "cpu.max").touch()
    assert limit_cpu([str(tmp_path), str(tmp_path / "new")], 4) == ""
    assert (tmp_path / "new" / "cpu.max").read_text() == "400000 100000"

    (tmp_path / "cpu.cfs_quota_us").touch()
    assert limit_cpu([str(tmp_path)], 4) == ""
    assert (tmp_path / "cpu.cfs_quota_us").read_text() == "400000"
    assert (tmp_path / "cpu.cfs_period_us").read_text() == "100000"


def test_processes_are_limited_together(tmp_path: Path) -> None:
    (tmp_path / "pids.max").touch()
    assert limit_processes([str(tmp_path / "other"), str(tmp_path)], 1536) == ""
    assert (tmp_path / "pids.max").read_text() == "1536"


def test_what_cannot_be_limited_says_why(tmp_path: Path) -> None:
    assert limit_processes([str(tmp_path)], 1) == "no pids controller"
    assert limit_memory([str(tmp_path)], GB) == "no memory controller"
    assert limit_cpu([str(tmp_path)], 1) == "no cpu controller"
    (tmp_path / "memory.max").mkdir()
    assert limit_memory([str(tmp_path)], GB) == "memory.max: Is a directory"


@pytest.mark.parametrize(
    ("faults", "words"),
    [
        (
            {"memory": "", "CPU": "", "processes": ""},
            (
                "at most 3.75 GB of memory and 1 vCPU, as n1-standard-1 has; "
                "at most 1536 processes and 100 GB of disk (bootDiskSizeGb)"
            ),
        ),
        (
            {"memory": "", "CPU": "no cpu controller", "processes": ""},
            (
                "at most 3.75 GB of memory, as n1-standard-1 has; "
                "at most 1536 processes and 100 GB of disk (bootDiskSizeGb); "
                "not limited to the size of n1-standard-1: CPU: no cpu controller"
            ),
        ),
        (
            {"memory": "no", "CPU": "no", "processes": "no"},
            (
                "at most 100 GB of disk (bootDiskSizeGb); "
                "not limited to the size of n1-standard-1: memory: no, CPU: no, processes: no"
            ),
        ),
    ],
)
def test_limits_in_words(faults: dict[str, str], words: str) -> None:
    assert Limits("n1-standard-1", 3840 << 20, 1, 100 << 30).describe(faults) == words


def test_a_disk_whose_size_nobody_knows_has_no_limit() -> None:
    limits = Limits.of(Allotment("own", vcpus=2, memory_mb=1024))
    held = {"memory": "", "CPU": "", "processes": ""}
    assert limits.describe(held) == (
        "at most 1 GB of memory and 2 vCPUs, as own has; at most 2048 processes"
    )


@pytest.mark.skipif(not os.path.isdir("/sys/fs/cgroup"), reason="needs control groups")  # noqa: PTH112
def test_the_own_group_lies_below_its_mount() -> None:
    for hierarchy in find_hierarchies().values():
        chain = list(hierarchy.chain())
        assert (chain[0], chain[-1]) == (hierarchy.own, hierarchy.point)
