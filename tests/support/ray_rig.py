"""A backend over a real Ray, whose workers see this machine's files and processes."""

from __future__ import annotations

import os
import signal
from typing import TYPE_CHECKING, Any

from footplate.backends.ray import RayEngine, RaySettings
from tests.support.engine_rig import EngineRig
from tests.support.launcher_processes import find_with_parents
from tests.support.machines_rig import MachinesRig
from tests.support.ray_machines import NODES

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.domain.names import AttemptId
    from tests.support.ray_cluster import RayCluster
    from tests.support.ray_machines import RayMachines


class RayRig(EngineRig):
    def __init__(
        self,
        cluster: RayCluster,
        folder: Path,
        *,
        settings: RaySettings | None = None,
        **given: Any,
    ) -> None:
        self.cluster = cluster
        engine = RayEngine(settings or RaySettings(cluster.address, reserve=False))
        archives = cluster.folder / "supervisor"
        super().__init__(engine, folder, archives, host=cluster.here, **given)

    def kill_task(self, attempt_id: AttemptId, replica: str) -> None:
        """Its worker of Ray, with which the launcher ends."""
        _, parent = self.launcher_with_parent(attempt_id, replica)
        worker = find_with_parents(self.launcher_directories(attempt_id, replica))[parent]
        os.kill(worker, signal.SIGKILL)

    def end_jobs(self) -> None:
        self.cluster.stop_jobs()


class RayMachinesRig(RayRig, MachinesRig):
    """Each launcher has a node for itself, and each node is a machine."""

    def __init__(self, found: RayMachines, folder: Path, **given: Any) -> None:
        self.machines = found.machines
        self._nodes = found
        settings = RaySettings(found.cluster.address, machines={"*": {"CPU": 1}})
        super().__init__(found.cluster, folder, settings=settings, **given)

    def machine_of(self, attempt_id: AttemptId, replica: str) -> str:
        """Ray names nodes by their addresses."""
        address = super().machine_of(attempt_id, replica)
        return next(name for name in NODES if self.machines.address(name) == address)

    def wait_until_avoided(self, name: str) -> None:
        self._nodes.wait_until_lost(name)

    def start_machine(self, name: str) -> None:
        self._nodes.start_node(name)
        self._nodes.wait_for_nodes(name)

    def heal_machine(self, name: str) -> None:
        """Ray's own process there has ended itself, or does now: it is started again."""
        self.machines.heal(name)
        self.machines.kill(name)
        self.start_machine(name)
