"""Closes a worker's connections in its forked children, so that peers notice when the worker ends.

Data loaders fork, and their processes outlive a worker that is killed, for a while at least.
"""

from __future__ import annotations

import os
import threading
from typing import Sequence

_kept: dict[int, int] = {}
"""Descriptors of the connections that are open, and the inodes by which they are known again:
whoever closes a connection doesn't tell, and its number may be another file's by then."""
_lock = threading.Lock()
_registered: list[bool] = []


def close_in_children(descriptors: Sequence[int]) -> None:
    """Makes processes that are forked from now on close their copies of ``descriptors``.

    Any thread may call this.
    """
    with _lock:
        if not _registered:
            os.register_at_fork(after_in_child=_close_copies)
            _registered.append(True)
        for descriptor, inode in list(_kept.items()):
            if not _is(descriptor, inode):
                del _kept[descriptor]
        _kept.update({each: os.fstat(each).st_ino for each in descriptors})


def _close_copies() -> None:
    """Closes the inherited descriptors in a forked child.

    Doesn't take the lock: a thread that doesn't exist in the child may hold it.
    """
    for descriptor, inode in list(_kept.items()):
        if _is(descriptor, inode):
            os.close(descriptor)


def _is(descriptor: int, inode: int) -> bool:
    try:
        return os.fstat(descriptor).st_ino == inode
    except OSError:  # it is closed
        return False
