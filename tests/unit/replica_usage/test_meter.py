"""What a program has used since it began, of a cage that a test has made."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from footplate.replica.isolation.cage import Cage, Child, Family
from footplate.replica.usage import tree
from footplate.replica.usage.meter import Meter

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")


class OwnCage(Cage):
    """Its program is the tests' own process; its group is a directory of plain files."""

    def __init__(self, group: Path) -> None:
        self.groups = [str(group)]
        self.group = group
        self.pids = [os.getpid()]

    def family(self, child: Child) -> Family:
        return Family(self.pids)

    def count(self, cpu_us: int, written: int) -> None:
        (self.group / "cpu.stat").write_text(f"usage_usec {cpu_us}\n")
        (self.group / "io.stat").write_text(f"8:0 rbytes=0 wbytes={written}\n")


@pytest.fixture
def cage(tmp_path: Path) -> OwnCage:
    cage = OwnCage(tmp_path)
    cage.count(5_000_000, 1000)
    return cage


def test_what_was_used_before_does_not_count(cage: OwnCage) -> None:
    meter = Meter(cage, Child(os.getpid()))
    cage.count(7_500_000, 1400)
    values = meter.read()
    assert (values["cpu_s"], values["written_bytes"]) == (2.5, 400)
    assert values["processes"] == 1
    assert values["memory_bytes"] > 0, "no group counts it"


def test_what_falls_is_told_as_it_was(cage: OwnCage) -> None:
    meter = Meter(cage, Child(os.getpid()))
    for cpu_us, told_s in ((8_000_000, 3.0), (6_000_000, 3.0), (9_000_000, 4.0)):
        cage.count(cpu_us, 1000)
        assert meter.read()["cpu_s"] == told_s


def test_what_nobody_tells_of_any_more_is_told_as_it_was(
    cage: OwnCage, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter = Meter(cage, Child(os.getpid()))
    with monkeypatch.context() as patch:
        patch.setattr(tree, "read_network", lambda _: (70, 80))
        meter.read()
    cage.pids = []
    values = meter.read()
    assert (values["received_bytes"], values["sent_bytes"]) == (70, 80)
    assert "memory_bytes" not in values
    assert "processes" not in values
