"""Detects whether the kernel killed a program for lack of memory."""

from __future__ import annotations

import os
import signal

from footplate.replica.file_io import read_text

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.replica.context import Context

VMSTAT = "/proc/vmstat"
MEMINFO = "/proc/meminfo"
OTHERWISE = (
    "memory did not run out: the kernel has killed no process of the program's control group for it"
)
_TELLING = 10
"""Less than this part of all was seen long before it was too much: that tells nothing."""


class Finding:
    """A finding about kills for want of memory. ``fatal`` says that the kernel killed the program
    itself; ``about`` names in words what it killed. ``otherwise`` is set if the program was killed
    and certainly not for want of memory: it says so.
    """

    __slots__ = ("about", "fatal", "otherwise")

    def __init__(self, about: str, *, fatal: bool = False, otherwise: str = "") -> None:
        self.about = about
        self.fatal = fatal
        self.otherwise = otherwise


class OomWatch:
    """Counts the processes that the kernel has killed for want of memory since this object was
    made.

    If the isolation counts kills, they are the program's own. Otherwise they are the whole
    machine's, perhaps of other programs: the message says so, and nothing is concluded from them.
    """

    def __init__(self, context: Context, vmstat: str = VMSTAT) -> None:
        self._vmstat = vmstat
        self._containment = context.containment
        self._limits = context.limits
        self._own_before = self._count_own()
        self._all_before = count_all(self._vmstat) if self._own_before is None else None

    def judge(self, status: int) -> Finding:
        """Returns the finding on a program that has ended with ``status``."""
        if status == 0:  # whatever it has lost, it did without
            return Finding("")
        killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
        own = self._count_own()
        if own is None or self._own_before is None:
            return Finding(self._suspect() if killed else "")
        count = own - self._own_before
        if count <= 0:
            return Finding("", otherwise=OTHERWISE if killed else "")
        others = "a process" if count == 1 else f"{count} processes"
        ended = "the program" if killed else f"{others} of the program"
        about = f"the kernel killed {ended}: out of memory; {self._describe_limit()}"
        return Finding(about, fatal=killed)

    def _count_own(self) -> int | None:
        return None if self._containment is None else self._containment.oom_kills()

    def _suspect(self) -> str:
        if self._all_before is None:
            return ""
        count = count_all(self._vmstat) - self._all_before
        if count <= 0:
            return ""
        processes = "a process" if count == 1 else f"{count} processes"
        return (
            f"meanwhile this machine ran out of memory, and the kernel killed {processes}, perhaps "
            "the program; only isolation by cgroup can tell"
        )

    def _describe_limit(self) -> str:
        if self._limits is None:
            return "this machine had no more memory"
        return f"machine type {self._limits.machine_type} has {self._limits.memory}"


def describe_amounts(context: Context, meminfo: str = MEMINFO) -> str:
    """Returns a phrase on the most memory that the program was seen to hold, and on how much there
    is; or ''.
    """
    limits = context.limits
    there = read_total(meminfo) if limits is None else limits.memory_bytes
    words = []
    if context.peak_bytes and context.peak_bytes * _TELLING >= there:
        words.append(f"the program used at least {_gib(context.peak_bytes)}")
    if limits is not None:
        words.append(f"machine type {limits.machine_type} has {limits.memory}")
    elif there:
        words.append(f"this machine has {_gib(there)} for all programs")
    return "; ".join(words)


def read_total(meminfo: str) -> int:
    """Returns the bytes of memory of the machine; 0 if unknown."""
    try:
        with open(meminfo, encoding="ascii") as file:
            return int(file.readline().split()[1]) << 10
    except (OSError, ValueError, IndexError):  # a figure is missing
        return 0


def _gib(count: int) -> str:
    return f"{count / 2**30:.1f} GiB" if count >= 2**30 else f"{count / 2**20:.0f} MiB"


def join(cause: str, about: str) -> str:
    """Returns the cause, with the known facts on the kernel's part in it, if any."""
    return f"{cause} ({about})" if cause and about else cause or about


def count_all(vmstat: str) -> int:
    """Returns the number of kills on the whole machine since its start; 0 if unknown."""
    try:
        count = f"\n{read_text(vmstat)}".partition("\noom_kill ")[2].partition("\n")[0]
        return int(count or 0)
    except (OSError, ValueError):  # a figure is missing
        return 0
