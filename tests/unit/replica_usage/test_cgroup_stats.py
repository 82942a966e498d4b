"""What control groups count: on trees of plain files."""

from __future__ import annotations

from pathlib import Path

from footplate.replica.usage import meter

UNIFIED = {
    "cpu.stat": "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n",
    "memory.current": "7000\n",
    "memory.stat": "anon 4000\nfile 3000\ninactive_file 1000\n",
    "io.stat": "8:0 rbytes=100 wbytes=200 rios=1 wios=2\n8:16 rbytes=1 wbytes=2 rios=0 wios=0\n",
}


def make(folder: Path, **files: str) -> str:
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return str(folder)


def test_the_unified_hierarchy_counts_all(tmp_path: Path) -> None:
    amounts = meter.read_cgroups([make(tmp_path / "g", **UNIFIED)])
    assert (amounts.cpu_s, amounts.memory_bytes, amounts.transfers) == (2.5, 6000, (101, 202))


def test_version_1_has_a_group_for_each(tmp_path: Path) -> None:
    found = [
        make(tmp_path / "freezer", **{"freezer.state": "THAWED\n"}),
        make(
            tmp_path / "memory",
            **{"memory.usage_in_bytes": "500\n", "memory.stat": "total_inactive_file 900\n"},
        ),
        make(tmp_path / "cpu", **{"cpu.stat": "nr_periods 0\nnr_throttled 0\n"}),
        make(tmp_path / "cpuacct", **{"cpuacct.usage": "1500000000\n"}),
    ]
    amounts = meter.read_cgroups(found)
    assert (amounts.cpu_s, amounts.memory_bytes, amounts.transfers) == (1.5, 0, None)


def test_a_group_that_has_touched_no_disk(tmp_path: Path) -> None:
    assert meter.read_cgroups([make(tmp_path / "g", **{"io.stat": ""})]).transfers == (0, 0)


def test_what_nobody_counts_is_not_known(tmp_path: Path) -> None:
    for found in ([], [str(tmp_path / "gone")]):
        amounts = meter.read_cgroups(found)
        assert (amounts.cpu_s, amounts.memory_bytes, amounts.transfers) == (None, None, None)
