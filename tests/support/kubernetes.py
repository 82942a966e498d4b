"""A real Kubernetes for tests: control plane and one node, from ``../shared/rigs/k8s``.

Its pods run in the network of this machine (``hostNetwork``), from an image with this machine's
Python.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import tarfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.engines.python_image import python_files
from tests.support.ports import free_ports
from tests.support.requirements import describe_lack, require

if TYPE_CHECKING:
    from collections.abc import Iterator

RIG = Path(__file__).resolve().parents[3] / "shared" / "rigs" / "k8s"
PACKAGES = ("etcd-server", "containerd", "runc", "gcc", "containernetworking-plugins")
IMAGE = "docker.io/rig/python:1"
PATIENCE_S = 120.0


@dataclass(frozen=True)
class Kubernetes:
    """``directory``: of the control plane, with the pids of its parts in ``NAME.pid``."""

    directory: Path
    kubeconfig: Path
    node: Path

    def kubectl(self, *words: str, given: bytes | None = None) -> str:
        """What ``kubectl`` answers; it must succeed. ``given``: its input."""
        done = subprocess.run(self.command(*words), check=True, capture_output=True, input=given)
        return done.stdout.decode()

    def command(self, *words: str) -> tuple[str, ...]:
        return ("kubectl", f"--kubeconfig={self.kubeconfig}", *words)

    def delete_all(self) -> None:
        """All that Footplate has there, at once."""
        selector = "app.kubernetes.io/managed-by=footplate"
        self.kubectl("delete", "pods,secrets", "-l", selector, "--grace-period=0", "--force")

    def pid(self, part: str) -> int:
        """Of ``etcd``, ``apiserver``, ``scheduler`` or ``controllers``."""
        return int((self.directory / f"{part}.pid").read_text())


def require_kubernetes() -> None:
    require(describe_lack_of_kubernetes())


def describe_lack_of_kubernetes() -> str | None:
    if not RIG.is_dir():
        return f"needs the scripts that start Kubernetes, in {RIG}"
    return describe_lack("Kubernetes", *PACKAGES, root=True)


@contextmanager
def private_kubernetes(directory: Path) -> Iterator[Kubernetes]:
    """One at a time on a machine: the ports of a kubelet are fixed."""
    plane, node = directory / "plane", directory / "node"
    directory.mkdir(parents=True)
    image = directory / "python.tar"
    save_image(image, IMAGE)
    found = Kubernetes(plane, directory / "kubeconfig", node)
    try:
        start_control_plane(found)
        script = copy_node_script(directory / "scripts")
        with _running_node(found, script, directory / "node.log", image):
            wait_until_ready(found, directory / "node.log")
            yield found
            _run(RIG / "down.sh", node)
    finally:
        _run(RIG / "down.sh", node)
        stop_control_plane(found)


def start_control_plane(
    kubernetes: Kubernetes, address: str = "127.0.0.1", script: Path = RIG / "up.sh"
) -> None:
    plane, variables = kubernetes.directory, {**os.environ, "BIND": address}
    _run(script, plane, str(free_ports(5)), environment=variables)
    # Its own one trusts any server, of which clients warn.
    trusting = (plane / "kubeconfig").read_text()
    authority = f'certificate-authority: "{plane}/certs/apiserver.crt"'
    text = trusting.replace("insecure-skip-tls-verify: true", authority)
    kubernetes.kubeconfig.write_text(text)


def stop_control_plane(kubernetes: Kubernetes) -> None:
    _run(RIG / "down.sh", kubernetes.directory)


@contextmanager
def _running_node(kubernetes: Kubernetes, script: Path, log: Path, image: Path) -> Iterator[None]:
    with log.open("wb") as output:
        process = subprocess.Popen(
            (script, kubernetes.node, "n1", kubernetes.directory, image),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
    try:
        yield
    finally:
        process.kill()
        process.wait()


def copy_node_script(folder: Path) -> Path:
    """On a disk that is fairly full a kubelet deletes images that no container uses: ours, too."""
    folder.mkdir()
    for name in ("runc-noadj", "pause.c"):
        shutil.copy(RIG / name, folder)
    text = (RIG / "node.sh").read_text()
    setting = "oomScoreAdj: 0\n"
    assert setting in text
    keep = "imageGCHighThresholdPercent: 100\nimageGCLowThresholdPercent: 99\n"
    script = folder / "node.sh"
    script.write_text(text.replace(setting, setting + keep))
    script.chmod(0o755)
    return script


def _run(*command: str | Path, environment: dict[str, str] | None = None) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def wait_until_ready(kubernetes: Kubernetes, log: Path, nodes: int = 1) -> None:
    deadline = time.monotonic() + PATIENCE_S
    path = "jsonpath={.items[*].status.conditions[?(@.type=='Ready')].status}"
    while kubernetes.kubectl("get", "nodes", "-o", path).split() != ["True"] * nodes:
        assert time.monotonic() < deadline, log.read_text()[-4000:]
        time.sleep(0.2)


def save_image(file: Path, name: str) -> None:
    """An archive as ``docker save`` makes it, of one layer."""
    layer = python_files()
    digest = hashlib.sha256(layer.read()).hexdigest()
    size = layer.tell()
    layer.seek(0)
    variables = ["PATH=/usr/local/bin:/usr/bin:/bin", "LD_LIBRARY_PATH=/usr/local/lib"]
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"Env": variables, "Cmd": ["python3"]},
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{digest}"]},
    }
    manifest = [{"Config": "config.json", "RepoTags": [name], "Layers": ["layer.tar"]}]
    with tarfile.open(file, "w") as archive:
        _add(archive, "manifest.json", json.dumps(manifest))
        _add(archive, "config.json", json.dumps(config))
        info = tarfile.TarInfo("layer.tar")
        info.size = size
        archive.addfile(info, layer)


def _add(archive: tarfile.TarFile, name: str, text: str) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(text)
    archive.addfile(info, BytesIO(text.encode()))
