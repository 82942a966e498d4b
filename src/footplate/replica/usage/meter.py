"""Total resource usage of a program since its start, by its control groups or its processes."""

from __future__ import annotations

import os

from footplate.protocol.reports import UsageSample
from footplate.replica.file_io import read_text
from footplate.replica.isolation.containment import ProcessSet
from footplate.replica.usage import process_stats

TYPE_CHECKING = False  # without the module typing, which would cost memory

if TYPE_CHECKING:
    from typing import Any, Iterator, Sequence, TypeVar

    from footplate.replica.isolation.containment import Child, Containment

    N = TypeVar("N", int, float)


class Amounts:
    """The amounts that a program uses; None for those that no group counts."""

    __slots__ = ("cpu_s", "memory_bytes", "transfers")

    def __init__(
        self,
        cpu_s: float | None,
        memory_bytes: int | None,
        transfers: tuple[int, int] | None,
    ) -> None:
        self.cpu_s = cpu_s
        self.memory_bytes = memory_bytes
        self.transfers = transfers
        """Bytes read from and written to disks."""


def read_cgroups(groups: Sequence[str]) -> Amounts:
    """Returns the amounts of the program with these groups, one in each hierarchy."""
    return Amounts(
        _first(_cpu_s(group) for group in groups),
        _first(_memory_bytes(group) for group in groups),
        _first(_transfers(group) for group in groups),
    )


def _first(found: Iterator[Any]) -> Any:
    return next((value for value in found if value is not None), None)


def _cpu_s(group: str) -> float | None:
    used_us = _entry(group, "cpu.stat", "usage_usec")
    if used_us is not None:
        return used_us / 1e6
    used_ns = _number(group, "cpuacct.usage")
    return None if used_ns is None else used_ns / 1e9


def _memory_bytes(group: str) -> int | None:
    """Returns the memory without file pages that were not used lately: the kernel gives them up."""
    for total, idle in (
        ("memory.current", "inactive_file"),
        ("memory.usage_in_bytes", "total_inactive_file"),
    ):
        used = _number(group, total)
        if used is not None:
            return max(0, used - (_entry(group, "memory.stat", idle) or 0))
    return None


def _transfers(group: str) -> tuple[int, int] | None:
    """Returns bytes read and written, from the unified hierarchy: version 1 doesn't count what is
    written through the cache.
    """
    text = _read(group, "io.stat")
    if text is None:
        return None
    pairs = [word.partition("=") for word in text.split()]
    return _sum(pairs, "rbytes"), _sum(pairs, "wbytes")


def _sum(pairs: Sequence[tuple[str, str, str]], name: str) -> int:
    return sum(int(value) for key, _, value in pairs if key == name)


def _entry(group: str, file: str, name: str) -> int | None:
    words = (_read(group, file) or "").split()
    return int(words[words.index(name) + 1]) if name in words else None


def _number(group: str, file: str) -> int | None:
    text = _read(group, file)
    return None if text is None else int(text)


def _read(group: str, file: str) -> str | None:
    try:
        return read_text(f"{group}/{file}")
    except OSError:  # a figure is missing
        return None


class Meter:
    """The meter of a program's use. Control groups give the figures if they count them; if not,
    they are sums over the processes.

    A sum falls when a process ends for which no other waits: the highest value of each is reported.
    """

    def __init__(self, containment: Containment, child: Child, *, first: bool = False) -> None:
        """Begins to measure; ``first`` says that nothing was started in the containment before."""
        self._containment = containment
        self._child = child
        self._highest = UsageSample(0, 0)
        # On other containment modes what the supervisor itself has started counts with it.
        self._base = UsageSample(0, 0) if first and containment.thorough else self._read_base()
        """What the containment was used for before, to make the environment."""

    def read(self, sample: UsageSample) -> None:
        """Adds the use to the sample. Figures that can only grow are the highest so far, others the
        present ones.
        """
        self._read(sample)
        base, highest = self._base, self._highest
        sample.cpu_s = highest.cpu_s = _grow(sample.cpu_s, base.cpu_s, highest.cpu_s)
        sample.read_bytes = highest.read_bytes = _grow(
            sample.read_bytes, base.read_bytes, highest.read_bytes
        )
        sample.written_bytes = highest.written_bytes = _grow(
            sample.written_bytes, base.written_bytes, highest.written_bytes
        )

    def _read_base(self) -> UsageSample:
        family = self._containment.family(self._child)
        ended = process_stats.count(
            ProcessSet(list(family.helpers), family.helpers), transfers=False
        )
        base = UsageSample(0, 0, cpu_s=_seconds(ended))
        _add(base, read_cgroups(self._containment.groups))
        return base

    def _read(self, sample: UsageSample) -> None:
        amounts = read_cgroups(self._containment.groups)
        family = self._containment.family(self._child)
        count = process_stats.count(family, transfers=amounts.transfers is None)
        if family.pids:
            sample.cpu_s, sample.memory_bytes = _seconds(count), count.memory_bytes
            sample.read_bytes, sample.written_bytes = count.read_bytes, count.written_bytes
            sample.processes, sample.stopped = count.living, count.all_stopped
        _add(sample, amounts)


def _grow(now: N | None, base: N | None, highest: N | None) -> N | None:
    """Returns the highest use since ``base``; None if nothing here counts it."""
    if now is None:
        return highest
    return max(round(now - (base or 0), 3), highest or 0)


def _seconds(count: process_stats.Count) -> float:
    return count.ticks / os.sysconf("SC_CLK_TCK")


def _add(sample: UsageSample, amounts: Amounts) -> None:
    if amounts.cpu_s is not None:
        sample.cpu_s = amounts.cpu_s
    if amounts.memory_bytes is not None:
        sample.memory_bytes = amounts.memory_bytes
    if amounts.transfers is not None:
        sample.read_bytes, sample.written_bytes = amounts.transfers
