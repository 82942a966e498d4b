"""Resource limits of a program, enforced by control groups.

Version 1 has a hierarchy for each controller. In the unified one a group has the controllers
that the group above it hands down, and a group that holds processes can hand none down.
"""

from __future__ import annotations

import os

from footplate.replica.file_io import read_text

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Iterator, Sequence

    from footplate.protocol.task import Allotment
    from footplate.replica.isolation.cgroup_hierarchies import Hierarchy

CONTROLLERS = ("memory", "cpu", "pids")
LEAST_PROCESSES, PROCESSES_OF_A_VCPU = 1024, 512
_PERIOD_US = 100_000
_BOUNDS = ("memory.max", "memory.high", "cpu.max", "cpuset.cpus")


class Limits:
    """The limits of the machine type that a replica asked for.

    ``disk_bytes`` is the size of its boot disk; 0 means unknown.
    """

    __slots__ = ("disk_bytes", "machine_type", "memory_bytes", "vcpus")

    def __init__(
        self, machine_type: str, memory_bytes: int, vcpus: int, disk_bytes: int = 0
    ) -> None:
        self.machine_type = machine_type
        self.memory_bytes = memory_bytes
        self.vcpus = vcpus
        self.disk_bytes = disk_bytes

    @classmethod
    def of(cls, machine: Allotment) -> Limits:
        memory_bytes, disk_bytes = machine.memory_mb << 20, machine.disk_gb << 30
        return cls(machine.machine_type, memory_bytes, machine.vcpus, disk_bytes)

    @property
    def memory(self) -> str:
        return f"{round(self.memory_bytes / (1 << 30), 2):g} GB"

    @property
    def disk(self) -> str:
        return f"{self.disk_bytes >> 30} GB"

    @property
    def processes(self) -> int:
        """The limit of processes; threads count too. Machine types say nothing of it."""
        return LEAST_PROCESSES + PROCESSES_OF_A_VCPU * self.vcpus

    def describe(self, faults: dict[str, str]) -> str:
        """Says which of the machine's limits hold here; ``faults`` is what Containment.limit
        returns.
        """
        cpus = "1 vCPU" if self.vcpus == 1 else f"{self.vcpus} vCPUs"
        amounts = {"memory": f"{self.memory} of memory", "CPU": cpus}
        more = {"processes": f"{self.processes} processes"}
        held = [amount for name, amount in amounts.items() if not faults.get(name)]
        added = [amount for name, amount in more.items() if not faults.get(name)]
        added += [f"{self.disk} of disk (bootDiskSizeGb)"] if self.disk_bytes else []
        missed = [f"{name}: {fault}" for name, fault in faults.items() if fault]
        sentences = [f"at most {' and '.join(held)}, as {self.machine_type} has"] if held else []
        sentences += [f"at most {' and '.join(added)}"] if added else []
        sentences += (
            [(f"not limited to the size of {self.machine_type}: {', '.join(missed)}")]
            if missed
            else []
        )
        return "; ".join(sentences)


def limit_memory(groups: Sequence[str], memory_bytes: int) -> str:
    """Bounds memory and swap together; returns why that can't be, or ''."""
    for group in groups:
        for name, swap, swap_bytes in (
            ("memory.max", "memory.swap.max", 0),
            ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", memory_bytes),
        ):
            if os.path.exists(os.path.join(group, name)):
                return _write_all(
                    group, ((name, str(memory_bytes), True), (swap, str(swap_bytes), False))
                )
    return "no memory controller"


def limit_cpu(groups: Sequence[str], vcpus: int) -> str:
    """Bounds the time on all CPUs together; returns why that can't be, or ''."""
    quota_us = str(vcpus * _PERIOD_US)
    for group in groups:
        if os.path.exists(os.path.join(group, "cpu.max")):
            return _write_all(group, (("cpu.max", f"{quota_us} {_PERIOD_US}", True),))
        if os.path.exists(os.path.join(group, "cpu.cfs_quota_us")):
            period = ("cpu.cfs_period_us", str(_PERIOD_US), True)
            return _write_all(group, (period, ("cpu.cfs_quota_us", quota_us, True)))
    return "no cpu controller"


def limit_processes(groups: Sequence[str], count: int) -> str:
    """Bounds processes and threads together; returns why that can't be, or ''."""
    for group in groups:
        if os.path.exists(os.path.join(group, "pids.max")):
            return _write_all(group, (("pids.max", str(count), True),))
    return "no pids controller"


def find_parents(unified: Hierarchy, *, enable: bool) -> Iterator[str]:
    """Yields groups in which a program's group can be made: first those that hand memory down, then
    the own group.

    A program never leaves limits that hold for us: no group above one with limits is yielded. With
    ``enable``, groups are also made to hand down controllers that they don't hand down so far.
    """
    for group in unified.chain():
        if enable:
            _enable(group)
        if "memory" in _read(os.path.join(group, "cgroup.subtree_control")).split():
            yield group
        if _is_bounded(group):
            break
    yield unified.own


def _enable(group: str) -> None:
    """Enables each controller by itself: a missing one must not keep back the other."""
    for name in CONTROLLERS:
        _write_all(group, (("cgroup.subtree_control", f"+{name}", True),))


def _is_bounded(group: str) -> bool:
    bounds = (_read(os.path.join(group, name)).split()[:1] for name in _BOUNDS)
    return any(bound not in ([], ["max"]) for bound in bounds)


def _write_all(group: str, entries: Sequence[tuple[str, str, bool]]) -> str:
    """Writes each value; returns why a needed one can't be written, or ''."""
    fault = ""
    for name, value, needed in entries:
        try:
            with open(os.path.join(group, name), "w", encoding="ascii") as file:
                file.write(value)
        except OSError as error:
            fault = fault or (f"{name}: {error.strerror}" if needed else "")
    return fault


def _read(path: str) -> str:
    try:
        return read_text(path)
    except OSError:  # a figure is missing
        return ""
