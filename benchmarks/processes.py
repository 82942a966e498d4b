"""What the processes of a service weigh and burn, from /proc."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Weight:
    """Resident memory in kB; ``pss`` counts a page that several processes share by its share."""

    rss: int
    pss: int


def supervisors(data_dir: Path) -> list[int]:
    return [pid for pid in _pids() if _is_supervisor(_command(pid), bytes(data_dir))]


def programs(module: str) -> list[int]:
    return [pid for pid in _pids() if _command(pid)[1:3] == [b"-m", module.encode()]]


def weight(pid: int) -> Weight:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    sizes = {name: int(rest.split()[0]) for name, _, rest in (x.partition(":") for x in lines[1:])}
    return Weight(sizes["Rss"], sizes["Pss"])


def cpu_s(*pids: int) -> float:
    """What these have burnt since each was born."""
    return sum(_ticks(pid) for pid in pids) / _TICKS


def _ticks(pid: int) -> int:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


def _pids() -> list[int]:
    return [int(folder.name) for folder in Path("/proc").glob("[0-9]*")]


def _command(pid: int) -> list[bytes]:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().rstrip(b"\0").split(b"\0")
    except OSError:
        return []


def _is_supervisor(command: list[bytes], data_dir: bytes) -> bool:
    return command[-2:-1] == [b"run"] and command[-1].startswith(data_dir)
