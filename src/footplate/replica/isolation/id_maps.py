"""Mounts in which the files of the service's user are those of a program's user.

What the program writes there belongs to the service's user on the disk, so that the service and
later programs, which have other users, can read and delete it.
"""

from __future__ import annotations

import os
import signal

from footplate.replica.file_io import write_text
from footplate.replica.isolation import syscalls
from footplate.replica.isolation.spawn import SpawnFailed, close_all_but, fork, is_transient

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence


def find_fault(first: int, count: int, sources: Sequence[str]) -> str:
    """Returns why ids from 0 can't be mapped to those from ``first`` in mounts of ``sources``, or
    ''.

    Raises SpawnFailed, OSError for a reason that may pass.
    """
    try:
        id_map = open_map(first, first, count)
    except (OSError, SpawnFailed) as error:
        if is_transient(error):
            raise
        return str(error)
    try:
        for source in sources:
            opened = os.open(source, os.O_PATH | os.O_CLOEXEC)
            try:
                os.close(syscalls.clone_mapped(opened, id_map))
            finally:
                os.close(opened)
    except OSError as error:
        if is_transient(error):
            raise
        return str(error)
    finally:
        os.close(id_map)
    return ""


def open_map(uid: int, gid: int, count: int = 1) -> int:
    """Returns a descriptor of a user namespace that has ``uid`` in the place of root, and so on.

    Raises OSError, SpawnFailed: there can be none.
    """

    def body(ready: int) -> None:
        close_all_but({ready})
        syscalls.die_with_parent(signal.SIGKILL)
        syscalls.unshare(syscalls.CLONE_NEWUSER)
        os.close(ready)
        while True:
            signal.pause()

    child = fork(body)
    child.wait()
    try:
        write_text(f"/proc/{child.pid}/uid_map", f"0 {uid} {count}")
        write_text(f"/proc/{child.pid}/gid_map", f"0 {gid} {count}")
        return os.open(f"/proc/{child.pid}/ns/user", os.O_RDONLY | os.O_CLOEXEC)
    finally:
        os.kill(child.pid, signal.SIGKILL)
        os.waitpid(child.pid, 0)
