"""What the program with all its processes has used since it began."""

from __future__ import annotations

import os

from footplate.replica.isolation.cage import Family
from footplate.replica.usage import groups, tree

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.replica.isolation.cage import Cage, Child

_COUNTERS = ("cpu_s", "read_bytes", "written_bytes", "received_bytes", "sent_bytes")
"""What only ever grows. The rest is as it is now."""


class Meter:
    """Control groups say it where they count; elsewhere it is summed up over the processes.

    A sum falls when a process ends for which nobody waits, and with the last one nobody tells of
    its network any more: each is told as it was at its highest.
    """

    def __init__(self, cage: Cage, child: Child, *, first: bool = False) -> None:
        """``first``: nothing was started in the cage before."""
        self._cage = cage
        self._child = child
        self._highest: dict[str, Any] = {}
        # On other rungs what the supervisor itself has started counts with it.
        self._base = {} if first and cage.thorough else self._read_base()
        """What the cage was used for before, to make the environment."""

    def read(self) -> dict[str, Any]:
        """Fields of a record. What nothing here tells isn't among them."""
        values = self._read()
        for name in _COUNTERS:
            if name in values:
                since = round(values[name] - self._base.get(name, 0), 3)
                self._highest[name] = max(since, self._highest.get(name, 0))
        return {**values, **self._highest}

    def _read_base(self) -> dict[str, Any]:
        family = self._cage.family(self._child)
        ended = tree.count(Family(list(family.keepers), family.keepers), transfers=False)
        return {"cpu_s": _seconds(ended), **_describe(groups.read(self._cage.groups))}

    def _read(self) -> dict[str, Any]:
        amounts = groups.read(self._cage.groups)
        family = self._cage.family(self._child)
        count = tree.count(family, transfers=amounts.transfers is None)
        if not family.pids:
            return _describe(amounts)
        values: dict[str, Any] = {
            "cpu_s": _seconds(count),
            "memory_bytes": count.memory_bytes,
            "read_bytes": count.read_bytes,
            "written_bytes": count.written_bytes,
            "processes": count.living,
            "stopped": count.all_stopped,
        }
        network = tree.read_network(count.first) if count.first else None
        if network is not None:
            values["received_bytes"], values["sent_bytes"] = network
        values.update(_describe(amounts))
        return values


def _seconds(count: tree.Count) -> float:
    return count.ticks / os.sysconf("SC_CLK_TCK")


def _describe(amounts: groups.Amounts) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if amounts.cpu_s is not None:
        values["cpu_s"] = amounts.cpu_s
    if amounts.memory_bytes is not None:
        values["memory_bytes"] = amounts.memory_bytes
    if amounts.transfers is not None:
        values["read_bytes"], values["written_bytes"] = amounts.transfers
    return values
