"""Says whether a program failed because it may have no more processes. Pure."""

from __future__ import annotations

from footplate.replica.isolation.resource_limits import LEAST_PROCESSES, PROCESSES_OF_A_VCPU

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.replica.isolation.resource_limits import Limits

_SIGNS = ("Resource temporarily unavailable", "can't start new thread", "Cannot fork")
"""What fork and threads fail with, in the words of C, Python and shells."""


def describe(limits: Limits | None, refused: int | None, cause: str) -> str:
    """Returns a sentence on the limit of processes, if the program's end has to do with it; else
    ''.

    ``limits`` is None if processes aren't limited. ``refused`` is how many the kernel has refused;
    None means that it doesn't count them, so that only ``cause``, the program's own words, tells.
    """
    if limits is None or refused == 0:
        return ""
    if refused is None and not any(sign in cause for sign in _SIGNS):
        return ""
    more = "the kernel refused the program more processes" if refused is None else _count(refused)
    vcpus = "its vCPU" if limits.vcpus == 1 else f"each of its {limits.vcpus} vCPUs"
    parts = f"{LEAST_PROCESSES} and {PROCESSES_OF_A_VCPU} for {vcpus}"
    return f"{more}; its limit is {limits.processes}: {parts}"


def _count(refused: int) -> str:
    times = "once" if refused == 1 else f"{refused} times"
    return f"the kernel refused the program one more process {times}"
