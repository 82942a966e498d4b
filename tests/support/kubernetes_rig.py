"""A backend over a real Kubernetes: its Pods see the rig's folder, and this machine's processes."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import uv

from footplate.backends.kubernetes import KubernetesEngine, PodSettings
from footplate.testing.engines.python_image import find_libraries
from tests.support.engine_rig import EngineRig
from tests.support.kubernetes import IMAGE

if TYPE_CHECKING:
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

    def end_jobs(self) -> None:
        self.cluster.delete_all()
