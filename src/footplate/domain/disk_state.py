"""The state of the data directory's disk."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1 << 20
FULL_BYTES = MIB
"""With less than this free a disk counts as full: a single write of some program is larger."""


@dataclass(frozen=True)
class DiskState:
    """The free space of the disk, and the reserve that is kept for recording the ends of jobs.

    The reserve holds ``reserve_bytes`` of ``wanted_bytes``. ``failure`` says why the last attempt
    to allocate it failed; empty: it succeeded, or there was no attempt.
    """

    free_bytes: int
    reserve_bytes: int = 0
    wanted_bytes: int = 0
    failure: str = ""

    @property
    def full(self) -> bool:
        return self.free_bytes < FULL_BYTES

    @property
    def missing_bytes(self) -> int:
        """Returns how much of the reserve is in use, or could never be allocated."""
        return max(0, self.wanted_bytes - self.reserve_bytes)

    @property
    def growable(self) -> bool:
        """Returns whether completing the reserve would leave enough free space on the disk."""
        return self.missing_bytes > 0 and self.free_bytes >= self.missing_bytes + 2 * FULL_BYTES

    def trouble(self) -> str:
        """Describes the disk's problem to an operator; empty: there is none.

        If the disk has space for the whole reserve, it is allocated within seconds.
        """
        if self.growable:
            free = f"{_mib(self.free_bytes)} MiB free"
            return f"no disk reserve: {self.failure}; {free}" if self.failure else ""
        if not (self.full or self.missing_bytes):
            return ""
        head = "disk full" if self.full else "disk nearly full"
        if not self.wanted_bytes:
            reserve = "the server has reserved no space for an emergency"
        elif self.missing_bytes:
            reserve = (
                f"{_mib(self.missing_bytes)} of the {_mib(self.wanted_bytes)} MiB that the server "
                "reserves are in use"
            )
        else:
            reserve = f"the {_mib(self.wanted_bytes)} MiB that the server reserves are untouched"
        return f"{head}: {_mib(self.free_bytes)} MiB free; {reserve}"


def _mib(size_bytes: int) -> str:
    return f"{size_bytes / MIB:.1f}".removesuffix(".0")
