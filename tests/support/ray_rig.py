"""A backend over a real Ray, whose workers see this machine's files and processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footplate.backends.ray import RayEngine, RaySettings
from tests.support.engine_rig import EngineRig
from tests.support.ray_cluster import HERE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.ray_cluster import RayCluster


class RayRig(EngineRig):
    def __init__(self, cluster: RayCluster, folder: Path, **given: Any) -> None:
        self.cluster = cluster
        engine = RayEngine(RaySettings(cluster.address, reserve=False))
        super().__init__(engine, folder, cluster.folder / "supervisor", host=HERE, **given)

    def end_jobs(self) -> None:
        self.cluster.stop_jobs()
