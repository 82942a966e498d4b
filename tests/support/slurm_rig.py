"""A backend over a real Slurm."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footplate.backends.slurm import SlurmEngine, SlurmSettings
from tests.support.engine_rig import EngineRig
from tests.support.machines_rig import MachinesRig

if TYPE_CHECKING:
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
        """A job of several replicas has one step with a task for each; a single one runs in the
        job's script.
        """
        seen = self.backend.inspect(attempt_id)
        [job] = (each.engine_id for each in seen if each.replica == replica)
        if len(seen) > 1:
            self.cluster.command("scancel", "--signal=KILL", f"{job}.0")
            return
        _, parent = self.launcher_with_parent(attempt_id, replica)
        script = int(Path(f"/proc/{parent}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(script, signal.SIGKILL)  # Slurm kills what it ran; scancel would say who did it

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
