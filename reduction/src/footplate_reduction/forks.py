"""Children of a worker must not hold its connections open: the others would never hear of its end.

Data loaders fork, and their processes outlive a worker that is killed, for a while at least.
"""

from __future__ import annotations

import os
from typing import Sequence

_kept: dict[int, int] = {}
"""Descriptors of the connections that are open, and the inodes by which they are known again:
whoever closes a connection doesn't tell, and its number may be another file's by then."""
_registered: list[bool] = []


def keep_from_children(descriptors: Sequence[int]) -> None:
    """Whoever is forked from now on closes its copies of them."""
    if not _registered:
        os.register_at_fork(after_in_child=_close_copies)
        _registered.append(True)
    for gone in [each for each in _kept if not _is_kept(each)]:
        del _kept[gone]
    _kept.update({each: os.fstat(each).st_ino for each in descriptors})


def _close_copies() -> None:
    for descriptor in filter(_is_kept, _kept):
        os.close(descriptor)
    _kept.clear()


def _is_kept(descriptor: int) -> bool:
    try:
        return os.fstat(descriptor).st_ino == _kept[descriptor]
    except OSError:
        return False
