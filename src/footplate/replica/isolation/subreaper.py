"""Rung ``subreaper``: the supervisor adopts every orphan among the program's descendants.

Guarantee: while the supervisor lives, whatever the program has started is its descendant, and
is killed, children that left the session or cleared their environment included. After the
supervisor's death those are found that have the mark in their environment, and their children.
Being out of memory isn't recognised.
"""

from __future__ import annotations

import os
import time

from footplate.replica.isolation.cage import KILL_PATIENCE_S, Cage, Child, Unavailable
from footplate.replica.isolation.processes import (
    Process,
    find_all,
    find_descendants,
    find_marked,
    kill,
)

_PAUSE_S = 0.002
_EMPTY_PASSES = 2


class SubreaperCage(Cage):
    name = "subreaper"
    guarantee = (
        "everything the program starts is killed, by the mark in its environment only "
        "if the supervisor itself was killed before"
    )

    def __init__(self, mark: str) -> None:
        self._mark = mark

    @classmethod
    def open(cls, mark: str) -> SubreaperCage:
        """Raises Unavailable."""
        from footplate.replica.isolation import kernel  # on this rung only: it costs memory

        try:
            kernel.become_subreaper()
        except (OSError, AttributeError) as error:
            raise Unavailable(str(error)) from error
        if next(find_all(), None) is None:
            raise Unavailable("/proc shows no processes")
        return cls(mark)

    def tidy(self, child: Child | None) -> None:
        """Adopted orphans; as long as ``child`` is a zombie, only those that ended before it."""
        while True:
            try:
                ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
                if ended is None or (child is not None and ended.si_pid == child.pid):
                    return
                os.waitpid(ended.si_pid, 0)
            except ChildProcessError:
                return

    def kill(self) -> bool:
        return sweep_marked(self._mark, os.getpid())


def sweep_marked(mark: str, ancestor: int) -> bool:
    """Kill the descendants of ``ancestor`` (0: nobody's) and all that is marked, with theirs.

    Passes go on until two in a row find nothing; False: some are still there after a while.
    """
    end = time.monotonic() + KILL_PATIENCE_S
    empty = 0
    while empty < _EMPTY_PASSES:
        found = _find(mark, ancestor)
        for process in found:
            kill(process)
        empty = 0 if found else empty + 1
        if found:
            if time.monotonic() >= end:
                return False
            time.sleep(_PAUSE_S)
    return True


def _find(mark: str, ancestor: int) -> list[Process]:
    found = find_descendants(ancestor) if ancestor else []
    for marked in find_marked(mark):
        found += [marked, *find_descendants(marked.pid)]
    return found
