"""A backend over a real Kubernetes: its Pods see the rig's folder, and this machine's processes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from footplate.backends.kubernetes import KubernetesEngine, PodSettings
from tests.support.engine_rig import EngineRig
from tests.support.kubernetes import IMAGE

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.kubernetes import Kubernetes


def pod_template(*folders: Path) -> dict[str, Any]:
    """``folders`` are at the same paths in Pods."""
    names = [f"folder-{number}" for number, _ in enumerate(folders)]
    mounts = [{"name": n, "mountPath": str(f)} for n, f in zip(names, folders, strict=True)]
    volumes = [
        {"name": n, "hostPath": {"path": str(f)}} for n, f in zip(names, folders, strict=True)
    ]
    return {
        "spec": {
            "hostNetwork": True,
            "hostPID": True,
            "shareProcessNamespace": False,
            "containers": [{"imagePullPolicy": "Never", "volumeMounts": mounts}],
            "volumes": volumes,
        }
    }


class KubernetesRig(EngineRig):
    def __init__(
        self,
        cluster: Kubernetes,
        folder: Path,
        *,
        engine: KubernetesEngine | None = None,
        **given: Any,
    ) -> None:
        self.cluster = cluster
        pods = PodSettings(image=IMAGE, template=pod_template(folder), reserve=False)
        engine = engine or KubernetesEngine(pods, kubeconfig=cluster.kubeconfig)
        super().__init__(engine, folder, cluster.directory / "supervisor", **given)

    def end_jobs(self) -> None:
        self.cluster.delete_all()
