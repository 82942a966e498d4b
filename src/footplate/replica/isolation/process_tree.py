"""Lists the processes of a running program, from beside it."""

from __future__ import annotations

import os

from footplate.replica.isolation.procfs import find, find_descendants, find_marked

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from footplate.protocol.isolation_record import IsolationRecord
    from footplate.replica.isolation.procfs import Process


def find_members(record: IsolationRecord) -> list[Process]:
    """Returns the processes of the program in ``isolation.json``, the program itself first.

    The result has the processes that the containment mode knows: on the modes ``subreaper`` and
    ``best-effort`` it lacks those that have cleared their environment and lost their parent.
    """
    if record.containment_mode == "cgroup":
        found = [find(pid) for pid in _read_group(record.killer)]
    elif record.containment_mode == "container":
        found = [find(record.init), *find_descendants(record.init)] if record.init else []
    elif record.containment_mode == "namespace":
        found = [*find_descendants(record.init)] if record.init else []
    else:
        marked = find_marked(record.mark) if record.mark else []
        roots = [record.pid, *(process.pid for process in marked)] if record.pid else []
        found = [find(pid) for pid in roots]
        found += [process for root in roots for process in find_descendants(root)]
    living = {each.pid: each for each in found if each is not None and not each.zombie}
    return sorted(living.values(), key=lambda each: (each.start, each.pid))


def _read_group(group: str) -> list[int]:
    """Returns the processes of a control group and those below it."""
    pids: list[int] = []
    for directory, _, _ in os.walk(group):
        with open(os.path.join(directory, "cgroup.procs"), encoding="ascii") as file:
            pids += [int(word) for word in file.read().split()]
    return pids
