"""A backend over a real Slurm."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footplate.backends.slurm import SlurmEngine, SlurmSettings
from tests.support.engine_rig import EngineRig

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.slurm import SlurmCluster


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

    def end_jobs(self) -> None:
        self.cluster.cancel_all()
