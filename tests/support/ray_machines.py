"""A real Ray whose nodes are machines of their own; its head runs no launchers."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.machines import connected_machines
from tests.support.ray_cluster import HEAD, RayCluster, head_command, ray_environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.support.machines import Machines

NODES = ("r1", "r2", "r3")
PORT = 6379
OBJECTS_BYTES = 80_000_000
_OWN_FILES = 'mount -t tmpfs tmpfs "$0" && mount -t tmpfs tmpfs /dev/shm && exec "$@"'
"""Sessions of Ray have the same path on all nodes."""


class RayMachines:
    def __init__(self, python: Path, folder: Path, machines: Machines) -> None:
        self.machines = machines
        host = machines.address(HEAD)
        self.cluster = RayCluster(python, folder, host, machines.here)
        self._sessions = folder / "sessions"
        self._sessions.mkdir()

    def start_head(self) -> None:
        cluster = self.cluster
        command = head_command(cluster.python, cluster.host, self._sessions, cpus=0)
        self._start(HEAD, *command, f"--port={PORT}")
        cluster.wait_for_nodes(lambda nodes: cluster.host in nodes)

    def start_node(self, name: str) -> None:
        ray, address = self.cluster.python.parent / "ray", self.machines.address(name)
        head = f"--address={self.cluster.host}:{PORT}"
        room = ("--num-cpus=1", f"--object-store-memory={OBJECTS_BYTES}")
        self._start(name, str(ray), "start", "--block", head, f"--node-ip-address={address}", *room)

    def _start(self, name: str, *command: str) -> None:
        self.machines.start(
            name,
            *("bash", "-c", _OWN_FILES, str(self._sessions), *command),
            environment=ray_environment(self.cluster.python),
            log=self.cluster.folder / f"{name}.log",
        )

    def wait_for_nodes(self, *names: str) -> None:
        """Until Ray uses these."""
        wanted = {self.machines.address(name) for name in names}
        self.cluster.wait_for_nodes(lambda nodes: wanted <= nodes)

    def wait_until_lost(self, name: str) -> None:
        """Until Ray starts nothing more there."""
        self.cluster.wait_for_nodes(lambda nodes: self.machines.address(name) not in nodes)


@contextmanager
def ray_on_machines(python: Path, folder: Path) -> Iterator[RayMachines]:
    with connected_machines(HEAD, *NODES) as machines:
        found = RayMachines(python, folder, machines)
        found.start_head()
        for name in NODES:
            found.start_node(name)
        found.wait_for_nodes(*NODES)
        yield found
