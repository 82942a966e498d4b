"""The processes of one replica: its supervisor, its program, and all that these have started.

    supervisor ── [helper ── init ──] program ── ...

What is in brackets is there on the containment modes ``cgroup`` and ``namespace`` only. Those two
are forks of the supervisor and look like it, so that the way down is the same on every containment
mode.
"""

from __future__ import annotations

import json
import os
import signal
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from footplate.replica.isolation.procfs import (
    Process,
    find,
    find_all,
    find_descendants,
    find_marked,
    is_alive,
    read_arguments,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_DYING_S = 5.0
_INTERVAL_S = 0.005


def find_supervisor(home: Path) -> Process | None:
    """Returns the live supervisor by its recorded pid; None if that is another process's now."""
    with suppress(OSError, ValueError):  # it has ended
        process = find(int((home / "pid").read_text()))
        if process is not None and not process.zombie and _serves(process, home):
            return process
    return None


def find_program(home: Path) -> Process | None:
    """Returns the program once it has started; not the processes that prepare its environment."""
    supervisor = find_supervisor(home)
    if supervisor is None:
        return None
    record = _read_record(home)
    if record.get("containment_mode") == "container":
        return _find_init(record)
    children: dict[int, list[Process]] = {}
    for process in find_all():
        children.setdefault(process.parent, []).append(process)
    candidates: list[Process] = []
    parents = [supervisor]
    while parents:
        for child in children.get(parents.pop().pid, ()):
            if _is_fork(child, home):
                parents.append(child)
            elif not _serves(child, home):
                candidates.append(child)
    return min(candidates, key=lambda process: process.start, default=None)


def find_everything(home: Path) -> list[Process]:
    """Returns the supervisor first, then all processes of its program that can be found.

    Detached processes are found by the mark in their environment.
    """
    supervisor = find_supervisor(home)
    found = [] if supervisor is None else [supervisor, *find_descendants(supervisor.pid)]
    mark = _mark(home)
    for marked in find_marked(mark) if mark else ():
        found += [marked, *find_descendants(marked.pid)]
    return list({process.pid: process for process in found}.values())


def find_tree(process: Process) -> list[Process]:
    return [process, *find_descendants(process.pid)]


def age_s(process: Process) -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME) - process.start / _TICKS


def send(number: signal.Signals, processes: Iterable[Process]) -> None:
    """Sends the signal to these processes, as far as they still exist.

    Raises:
        PermissionError: a process belongs to another user.
    """
    for process in processes:
        with suppress(ProcessLookupError):
            descriptor = os.pidfd_open(process.pid)
            try:
                if is_alive(process):
                    signal.pidfd_send_signal(descriptor, number)
            finally:
                os.close(descriptor)


def await_end(processes: Collection[Process]) -> None:
    """Waits until the killed processes have ended.

    Stops waiting after a while, for processes that the kernel keeps.
    """
    end_s = time.monotonic() + _DYING_S
    while any(is_alive(process) for process in processes) and time.monotonic() < end_s:
        time.sleep(_INTERVAL_S)


def _command(process: Process) -> list[bytes]:
    try:
        return read_arguments(process.pid)
    except OSError:  # it has ended
        return []


def _serves(process: Process, home: Path) -> bool:
    """Returns whether the process is a supervisor or its helper: ``ARCHIVE COMMAND HOME``."""
    return any(_leads_to(word, home) for word in _command(process))


def _is_fork(process: Process, home: Path) -> bool:
    command = _command(process)
    return command[-2:-1] == [b"run"] and _leads_to(command[-1], home)


def _leads_to(word: bytes, home: Path) -> bool:
    return word.startswith(b"/") and os.path.realpath(word) == os.fsencode(home.resolve())


def _find_init(record: dict[str, Any]) -> Process | None:
    """Returns the first process of a container, which its engine has started."""
    process = find(int(record.get("init") or 0))
    return process if process is not None and process.start == record.get("start") else None


def _mark(home: Path) -> str:
    """Returns the mark in the environment of all its processes; '' before there are any."""
    return str(_read_record(home).get("mark") or "")


def _read_record(home: Path) -> dict[str, Any]:
    """Returns the supervisor's record of its program's isolation; {} before there is any."""
    try:
        record = json.loads((home / "isolation.json").read_bytes())
    except (OSError, ValueError):  # it was removed meanwhile
        return {}
    return record if isinstance(record, dict) else {}
