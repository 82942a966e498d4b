"""A backend over a real Slurm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footplate.backends.slurm import SlurmEngine, SlurmSettings
from tests.support.engine_rig import EngineRig
from tests.support.machines_rig import MachinesRig

if TYPE_CHECKING:
    from pathlib import Path

    from footplate.domain.names import AttemptId
    from tests.support.slurm import SlurmCluster, SlurmMachines


class SlurmRig(EngineRig):
    def __init__(
        self,
        cluster: SlurmCluster,
        folder: Path,
        *,
        settings: SlurmSettings | None = None,
        **given: Any,
    ) -> None:
        self.cluster = cluster
        self.settings = settings or SlurmSettings(
            scratch=str(folder / "scratch"), environment=cluster.environment
        )
        super().__init__(self.make_engine(), folder, cluster.folder / "supervisor", **given)

    def make_engine(self) -> SlurmEngine:
        return SlurmEngine(self.settings)

    def kill_task(self, attempt_id: AttemptId, replica: str) -> None:
        """A job has one step, with the tasks of all its replicas."""
        seen = self.backend.inspect(attempt_id)
        [job] = (each.engine_id for each in seen if each.replica == replica)
        self.cluster.command("scancel", "--signal=KILL", f"{job}.0")

    def end_jobs(self) -> None:
        self.cluster.cancel_all()


class SlurmMachinesRig(SlurmRig, MachinesRig):
    """Each task of a job has a node for itself, and each node is a machine."""

    cluster: SlurmMachines

    def __init__(self, cluster: SlurmMachines, folder: Path, **given: Any) -> None:
        self.machines = cluster.machines
        settings = SlurmSettings(
            scratch=str(folder / "scratch"),
            environment=cluster.environment,
            options=("--ntasks-per-node=1", "--exclusive"),
        )
        super().__init__(cluster, folder, settings=settings, host=self.machines.here, **given)

    def wait_until_avoided(self, name: str) -> None:
        """At once: the job that it is away with has it for itself."""

    def start_machine(self, name: str) -> None:
        self.cluster.start_node(name)
        self.cluster.wait_for_node(name)

    def heal_machine(self, name: str) -> None:
        self.machines.heal(name)
        self.cluster.wait_for_node(name)
