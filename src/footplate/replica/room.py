"""Room on a full disk, without which nobody could be told that the program has ended.

Where the service's database is on the same disk, it keeps no end of a job before there is room; and
what fills the disk may be the program's own files, which would go only after that end.
"""

from __future__ import annotations

import os
import signal

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.replica.home import Home

LEAST_BYTES = 16 << 20
LEAST_FILES = 1000
PATIENCE_S = 60
"""How long removing may take; the supervisor does nothing else meanwhile."""


def make_room(home: Home, look: Callable[[str], os.statvfs_result] = os.statvfs) -> bool:
    """Remove the ended program's /tmp and working directory if the disk is full, or nearly.

    True: they are gone, as far as they could be removed. Never raises.
    """
    try:
        if not _is_full(look(home.path)):
            return False
        pid = os.fork()
    except OSError:
        return False
    if pid == 0:
        _remove([home.tmp, home.work])
    os.waitpid(pid, 0)
    return True


def _is_full(disk: os.statvfs_result) -> bool:
    """Some file systems don't count files: they say that there are none."""
    few_files = disk.f_files > 0 and disk.f_favail < LEAST_FILES
    return few_files or disk.f_bavail * disk.f_frsize < LEAST_BYTES


def _remove(paths: list[str]) -> None:
    """In a process of its own: ``shutil`` costs memory, and a hostile tree could take for ever."""
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(PATIENCE_S)
        import shutil

        for path in paths:
            shutil.rmtree(path, ignore_errors=True)
    finally:
        os._exit(0)
