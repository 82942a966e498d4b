"""Finds the process that holds a socket, and what tells whether it is a program's."""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.replica.isolation import procfs

if TYPE_CHECKING:
    from collections.abc import Iterator

_GROUP = re.compile(r"/footplate-([0-9a-f]{16,32})(?=/|$|\.)", re.MULTILINE)
"""A control group that a supervisor made, by the beginning of its mark."""
_MAX_DEPTH = 10_000


@dataclass(frozen=True)
class ProcessFacts:
    """Facts about a process. ``lineage`` is the process and its ancestors, the nearest first.

    ``marks`` are from the lineage's environments and the names of its control groups (there only
    the beginning). ``namespace`` is that of its process numbers; '' if unknown.
    """

    lineage: tuple[int, ...]
    marks: frozenset[str] = frozenset()
    namespace: str = ""


def find_holder(inode: int, uid: int, proc: Path = Path("/proc")) -> int | None:
    """Returns a process that has the socket open; None if this process can't see one.

    Looks first at processes of the user, and at the newest ones, since these are mostly the client.
    """
    link = f"socket:[{inode}]"
    with os.scandir(proc) as entries:
        pids = sorted((int(each.name) for each in entries if each.name.isdigit()), reverse=True)
    owners = {pid: _owner(proc / str(pid)) for pid in pids}
    pids.sort(key=lambda pid: owners[pid] != uid)
    return next((pid for pid in pids if _holds(proc / str(pid) / "fd", link)), None)


def read_facts(pid: int) -> ProcessFacts:
    """Reads facts of a process; if it ends meanwhile, returns those read so far.

    Raises OSError if this process has no free descriptor, since facts that aren't read mustn't make
    a program look like a user.
    """
    lineage = tuple(_climb(pid))
    marks = {mark for each in lineage for mark in procfs.read_marks(each)}
    namespace = ""
    with suppress(*procfs.UNSEEN):
        groups = Path(f"/proc/{pid}/cgroup").read_text("utf-8", "replace")
        marks.update(_GROUP.findall(groups))
        namespace = str(Path(f"/proc/{pid}/ns/pid").readlink())
    return ProcessFacts(lineage, frozenset(marks), namespace)


def _climb(pid: int) -> Iterator[int]:
    for _ in range(_MAX_DEPTH):
        if pid <= 0:
            return
        yield pid
        process = procfs.find(pid)
        pid = process.parent if process is not None else 0


def _holds(directory: Path, link: str) -> bool:
    try:
        with os.scandir(directory) as entries:
            return any(_read_link(entry) == link for entry in entries)
    except procfs.UNSEEN:
        return False


def _read_link(entry: os.DirEntry[str]) -> str:
    try:
        return os.readlink(entry)  # noqa: PTH115 - of thousands, a Path each would cost more
    except procfs.UNSEEN:
        return ""
    except OSError as error:
        if error.errno == errno.ENAMETOOLONG:  # a file below many directories, and no socket
            return ""
        raise


def _owner(path: Path) -> int:
    try:
        return path.stat().st_uid
    except procfs.UNSEEN:
        return -1
