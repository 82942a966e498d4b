"""A plugin of pytest: a run goes on, and ends, when one of its workers dies.

What pytest-xdist gives to a worker that replaces a dead one may be a single test; a worker begins
none before it knows the next, so that the run would never end. It would also try the test again
that the worker died of, perhaps of a machine's whole memory.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler.loadgroup import LoadGroupScheduling

if TYPE_CHECKING:
    from xdist.workermanage import WorkerController


class Scheduling(LoadGroupScheduling):  # type: ignore[misc]  # untyped
    """Gives the work of a dead worker to others, but for the test that it died of."""

    def remove_node(self, node: WorkerController) -> str | None:
        units = self.assigned_work[node]
        crashed = next((t for unit in units.values() for t, done in unit.items() if not done), None)
        for unit in units.values():
            if crashed in unit:
                unit[crashed] = True
        self.assigned_work[node] = {s: unit for s, unit in units.items() if not all(unit.values())}
        super().remove_node(node)
        return crashed

    def schedule(self) -> None:
        again = self.collection is not None
        super().schedule()
        if again:
            for node in self.nodes:
                self._reschedule(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling | None:
    return Scheduling(config, log) if config.option.dist == "loadgroup" else None
