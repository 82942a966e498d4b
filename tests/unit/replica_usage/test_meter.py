"""What a program has used since it began, of a containment that a test has made."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from footplate.protocol.reports import UsageSample
from footplate.replica.isolation.containment import Child, Containment, ProcessSet
from footplate.replica.usage.meter import Meter

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="there is no /proc")


class OwnCage(Containment):
    """Its program is the tests' own process; its group is a directory of plain files."""

    def __init__(self, group: Path) -> None:
        self.groups = [str(group)]
        self.group = group
        self.pids = [os.getpid()]

    def family(self, child: Child) -> ProcessSet:
        return ProcessSet(self.pids)

    def count(self, cpu_us: int, written: int) -> None:
        (self.group / "cpu.stat").write_text(f"usage_usec {cpu_us}\n")
        (self.group / "io.stat").write_text(f"8:0 rbytes=0 wbytes={written}\n")


@pytest.fixture
def containment(tmp_path: Path) -> OwnCage:
    containment = OwnCage(tmp_path)
    containment.count(5_000_000, 1000)
    return containment


def read(meter: Meter) -> UsageSample:
    sample = UsageSample(1, 0)
    meter.read(sample)
    return sample


def test_what_was_used_before_does_not_count(containment: OwnCage) -> None:
    meter = Meter(containment, Child(os.getpid()))
    containment.count(7_500_000, 1400)
    values = read(meter)
    assert (values.cpu_s, values.written_bytes) == (2.5, 400)
    assert values.processes == 1
    assert (values.memory_bytes or 0) > 0, "no group counts it"


def test_what_falls_is_told_as_it_was(containment: OwnCage) -> None:
    meter = Meter(containment, Child(os.getpid()))
    for cpu_us, told_s in ((8_000_000, 3.0), (6_000_000, 3.0), (9_000_000, 4.0)):
        containment.count(cpu_us, 1000)
        assert read(meter).cpu_s == told_s


def test_without_a_process_the_counters_stay_as_they_were(containment: OwnCage) -> None:
    meter = Meter(containment, Child(os.getpid()))
    containment.count(7_500_000, 1400)
    read(meter)
    containment.pids = []
    values = read(meter)
    assert (values.cpu_s, values.written_bytes) == (2.5, 400)
    assert values.memory_bytes is None
    assert values.processes is None
