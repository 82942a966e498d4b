"""Reserves disk space so that a replica's exit can still be reported when the disk is full.

Where the service's database is on the same disk, it keeps no end of a job before there is room; and
what fills the disk may be the program's own files, which would go only after that end.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.replica.workdir import Home

MIN_BYTES = 16 << 20
MIN_FILES = 1000
TIMEOUT_S = 60
"""How long removing may take; the supervisor does nothing else meanwhile."""
START_BYTES = 1 << 20
"""Less is left for nobody to start with: it counts as full, as it does for the service."""
_START_SHARE = 4
"""A quarter of a disk is enough, however small that is."""
STEP_BYTES = 1 << 20
"""What is given back of the service's reserve at once: enough for the last words of a replica."""


def has_room(path: str) -> bool:
    """Returns whether a program can be started on the disk of ``path``.

    Raises OSError.
    """
    disk = os.statvfs(path)
    return _free_bytes(disk) >= min(START_BYTES, disk.f_blocks * disk.f_frsize // _START_SHARE)


def make_room(home: Home, look: Callable[[str], os.statvfs_result] = os.statvfs) -> bool:
    """Removes the ended program's /tmp and working directory if the disk is full, or nearly.

    True: they are gone, as far as they could be removed. Never raises.
    """
    try:
        if not _is_full(look(home.path)):
            return False
        pid = os.fork()
    except OSError:  # its end is waited for then
        return False
    if pid == 0:
        _remove([home.tmp, home.work])
    os.waitpid(pid, 0)
    return True


def give_step(reserve: str, size_bytes: int = STEP_BYTES) -> bool:
    """Gives back a step of the file that the service keeps for ends; False: nothing is left of it.

    Never raises. Two that do so at once may give back the same step.
    """
    try:
        descriptor = os.open(reserve, os.O_RDWR | os.O_CLOEXEC)
    except OSError:  # nothing can be given back
        return False
    try:
        size = os.fstat(descriptor).st_size
        os.ftruncate(descriptor, max(0, size - size_bytes))
        os.fsync(descriptor)  # before that ext4 does not release the space
    except OSError:  # nothing can be given back
        return False
    finally:
        os.close(descriptor)
    return size > 0


def _is_full(disk: os.statvfs_result) -> bool:
    """Returns whether the disk is full. Some file systems don't count files, and report none at
    all.
    """
    few_files = disk.f_files > 0 and disk.f_favail < MIN_FILES
    return few_files or _free_bytes(disk) < MIN_BYTES


def _free_bytes(disk: os.statvfs_result) -> int:
    return disk.f_bavail * disk.f_frsize


def _remove(paths: list[str]) -> None:
    """Removes the paths and exits: ``shutil`` costs memory, and a hostile tree might never end."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(TIMEOUT_S)
        import shutil

        for path in paths:
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os._exit(0)
