"""A real Kubernetes whose nodes are machines of their own, with the control plane on this one."""

from __future__ import annotations

import os
import shutil
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.kubernetes import (
    IMAGE,
    Kubernetes,
    copy_node_script,
    save_image,
    start_control_plane,
    stop_control_plane,
    wait_until_ready,
)
from tests.support.machines import connected_machines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.machines import Machines

NODES = ("k1", "k2")


class KubernetesMachines:
    def __init__(self, cluster: Kubernetes, folder: Path, machines: Machines) -> None:
        self.cluster = cluster
        self.machines = machines
        self._folder = folder
        self._image = folder / "python.tar"

    def prepare(self) -> None:
        save_image(self._image, IMAGE)
        self._script = copy_node_script(self._folder / "scripts")

    def start_node(self, name: str) -> None:
        address = self.machines.address(name)
        node = (self._script, self._folder / name, name, self.cluster.directory, self._image)
        self.machines.start(
            name,
            *node,
            environment={**os.environ, "NODE_IP": address},
            log=self._folder / f"{name}.log",
        )

    def wait_for_nodes(self) -> None:
        """Until all are ready."""
        wait_until_ready(self.cluster, self._folder / f"{NODES[-1]}.log", len(NODES))


@contextmanager
def kubernetes_on_machines(folder: Path) -> Iterator[KubernetesMachines]:
    folder.mkdir(parents=True)
    with connected_machines(*NODES) as machines:
        plane = folder / "plane"
        cluster = Kubernetes(plane, folder / "kubeconfig", folder / NODES[0])
        found = KubernetesMachines(cluster, folder, machines)
        try:
            found.prepare()
            start_control_plane(cluster, machines.here)
            for name in NODES:
                found.start_node(name)
            found.wait_for_nodes()
            yield found
        finally:
            for name in NODES:  # not by down.sh: the pids in their files are those of machines
                if machines.runs(name):
                    machines.kill(name)
                shutil.rmtree(folder / name, ignore_errors=True)
            stop_control_plane(cluster)
