"""Resource usage of processes from /proc, where control groups are not available."""

from __future__ import annotations

import os

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.replica.isolation.containment import ProcessSet

MOST = 2048
"""More processes than these are counted, but not looked at."""
_STOPPED = b"T"
_ENDED = (b"Z", b"X")


class Count:
    """A sum over processes.

    CPU time and bytes include those of ended children, if their parents have waited for them. Pages
    that processes share count once for each of them.
    """

    __slots__ = (
        "living",
        "memory_bytes",
        "read_bytes",
        "stopped",
        "ticks",
        "written_bytes",
    )

    def __init__(self) -> None:
        self.living = 0
        self.stopped = 0
        self.ticks = 0
        self.memory_bytes = 0
        self.read_bytes = 0
        self.written_bytes = 0

    @property
    def all_stopped(self) -> bool:
        return 0 < self.living == self.stopped

    def add(self, pid: int) -> None:
        fields = _fields(pid)
        if not fields:
            return
        self.ticks += sum(int(word) for word in fields[11:15])
        if fields[0] in _ENDED:
            return
        self.living += 1
        self.stopped += fields[0] == _STOPPED
        self.memory_bytes += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")

    def add_waited(self, pid: int) -> None:
        """Adds only the use of ended children of a process that isn't the program's."""
        fields = _fields(pid)
        self.ticks += sum(int(word) for word in fields[13:15])

    def add_transfers(self, pid: int) -> None:
        words = _read(f"/proc/{pid}/io").split()
        if b"read_bytes:" in words and b"write_bytes:" in words:
            self.read_bytes += int(words[words.index(b"read_bytes:") + 1])
            self.written_bytes += int(words[words.index(b"write_bytes:") + 1])


def count(family: ProcessSet, *, transfers: bool) -> Count:
    """Returns the count of the processes' use. With ``transfers`` it has the bytes read from and
    written to disks too, which doubles the cost.

    Helper processes use no disks themselves, unless one is this process.
    """
    found = Count()
    for pid in family.pids[:MOST]:
        if pid in family.helpers:
            found.add_waited(pid)
        else:
            found.add(pid)
        if transfers and pid != os.getpid():
            found.add_transfers(pid)
    found.living += len(family.pids[MOST:])
    return found


def _fields(pid: int) -> list[bytes]:
    """Returns the fields of /proc/PID/stat from the state on; [] if the process is gone."""
    fields = _read(f"/proc/{pid}/stat").rpartition(b")")[2].split()
    return fields if len(fields) > 21 else []


def _read(path: str) -> bytes:
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read(65536)
    except OSError:  # a figure is missing
        return b""
