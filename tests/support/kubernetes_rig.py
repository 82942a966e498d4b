"""A backend over a real Kubernetes: its Pods see the rig's folder, and this machine's processes."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uv

from footplate.backends.kubernetes import KubernetesEngine, PodSettings
from footplate.backends.kubernetes.manifests import MANAGED_BY
from tests.support.engine_rig import EngineRig
from tests.support.engines.python_image import find_libraries
from tests.support.kubernetes import IMAGE
from tests.support.machines_rig import MachinesRig

if TYPE_CHECKING:
    from footplate.domain.names import AttemptId
    from tests.support.kubernetes import Kubernetes
    from tests.support.kubernetes_machines import KubernetesMachines

UNREACHABLE = "node.kubernetes.io/unreachable"


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


def package_template(*folders: Path) -> dict[str, Any]:
    """Such Pods also have the installer, and what it needs to find packages."""
    installer = Path(uv.find_uv_bin())
    libraries = {path.parent for path in find_libraries((installer,))}
    sources = {n: v for n, v in os.environ.items() if n.startswith(("UV_", "PIP_"))}
    sources["SSL_CERT_FILE"] = "/etc/ssl/certs/ca-certificates.crt"
    paths = {path for text in sources.values() for path in map(Path, re.split("[ ,]", text))}
    links = {path for path in paths if path.is_absolute() and path.is_dir()}
    pod = pod_template(*folders, installer.parent, *libraries, *links, Path("/etc/ssl"))
    pod["spec"]["containers"][0]["env"] = [{"name": n, "value": v} for n, v in sources.items()]
    return pod


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

    def kill_task(self, attempt_id: AttemptId, replica: str) -> None:
        """With its first process the container ends, and the Pod."""
        for pid in self.launcher_with_parent(attempt_id, replica):
            os.kill(pid, signal.SIGKILL)

    def end_jobs(self) -> None:
        self.cluster.delete_all()


class KubernetesMachinesRig(KubernetesRig, MachinesRig):
    """Pods go where there are none of ours yet, as far as that can be."""

    def __init__(self, found: KubernetesMachines, folder: Path, **given: Any) -> None:
        self.machines = found.machines
        self._nodes = found
        template = pod_template(folder)
        apart = {
            "topologyKey": "kubernetes.io/hostname",
            "labelSelector": {"matchLabels": MANAGED_BY},
        }
        rule = {"weight": 100, "podAffinityTerm": apart}
        template["spec"]["affinity"] = {
            "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [rule]}
        }
        pods = PodSettings(image=IMAGE, template=template, reserve=False)
        engine = KubernetesEngine(pods, kubeconfig=found.cluster.kubeconfig)
        super().__init__(found.cluster, folder, engine=engine, host=self.machines.here, **given)

    def wait_until_avoided(self, name: str) -> None:
        taints = ("get", "node", name, "-o", "jsonpath={.spec.taints[*].key}")
        self.settle(lambda: UNREACHABLE in self.cluster.kubectl(*taints).split())

    def start_machine(self, name: str) -> None:
        self._nodes.start_node(name)
        self._nodes.wait_for_nodes()

    def heal_machine(self, name: str) -> None:
        self.machines.heal(name)
        self._nodes.wait_for_nodes()
