"""Total resource usage of a program since its start."""

from __future__ import annotations

import os

from footplate.replica.isolation.containment import ProcessSet
from footplate.replica.usage import cgroup_stats, process_stats

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any

    from footplate.replica.isolation.containment import Child, Containment

_COUNTERS = ("cpu_s", "read_bytes", "written_bytes", "received_bytes", "sent_bytes")
"""What only ever grows. The rest is as it is now."""


class Meter:
    """Control groups say it where they count; elsewhere it is summed up over the processes.

    A sum falls when a process ends for which nobody waits, and with the last one nobody tells of
    its network any more: each is reported at its highest.
    """

    def __init__(self, containment: Containment, child: Child, *, first: bool = False) -> None:
        """``first``: nothing was started in the containment before."""
        self._containment = containment
        self._child = child
        self._highest: dict[str, Any] = {}
        # On other containment modes what the supervisor itself has started counts with it.
        self._base = {} if first and containment.thorough else self._read_base()
        """What the containment was used for before, to make the environment."""

    def read(self) -> dict[str, Any]:
        """Fields of a record. What nothing here tells isn't among them."""
        values = self._read()
        for name in _COUNTERS:
            if name in values:
                since = round(values[name] - self._base.get(name, 0), 3)
                self._highest[name] = max(since, self._highest.get(name, 0))
        return {**values, **self._highest}

    def _read_base(self) -> dict[str, Any]:
        family = self._containment.family(self._child)
        ended = process_stats.count(
            ProcessSet(list(family.helpers), family.helpers), transfers=False
        )
        return {"cpu_s": _seconds(ended), **_describe(cgroup_stats.read(self._containment.groups))}

    def _read(self) -> dict[str, Any]:
        amounts = cgroup_stats.read(self._containment.groups)
        family = self._containment.family(self._child)
        count = process_stats.count(family, transfers=amounts.transfers is None)
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
        network = process_stats.read_network(count.first) if count.first else None
        if network is not None:
            values["received_bytes"], values["sent_bytes"] = network
        values.update(_describe(amounts))
        return values


def _seconds(count: process_stats.Count) -> float:
    return count.ticks / os.sysconf("SC_CLK_TCK")


def _describe(amounts: cgroup_stats.Amounts) -> dict[str, Any]:
    values: dict[str, Any] = {}
    if amounts.cpu_s is not None:
        values["cpu_s"] = amounts.cpu_s
    if amounts.memory_bytes is not None:
        values["memory_bytes"] = amounts.memory_bytes
    if amounts.transfers is not None:
        values["read_bytes"], values["written_bytes"] = amounts.transfers
    return values
