"""A real Ray for tests: a head with an address of its own, and processes of this machine."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import httpx

from tests.support.machines import connected_machines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

HEAD = "head"
PORT = 8265
PATIENCE_S = 120.0
HEALTH_CHECKS = {
    "RAY_health_check_initial_delay_ms": "1000",
    "RAY_health_check_period_ms": "1000",
    "RAY_health_check_timeout_ms": "2000",
    "RAY_health_check_failure_threshold": "3",
}
"""As docs/how-to/run-jobs-on-ray.md wants them."""


@dataclass(frozen=True)
class RayCluster:
    """``python`` is the interpreter that has Ray; ``folder`` is the cluster's.

    ``host`` is the address of its head, and ``here`` that of this machine for its nodes.
    """

    python: Path
    folder: Path
    host: str
    here: str

    @property
    def address(self) -> str:
        return f"http://{self.host}:{PORT}"

    def nodes(self) -> frozenset[str]:
        """The addresses of the nodes that Ray uses; none while it doesn't answer."""
        with httpx.Client(base_url=self.address, trust_env=False, timeout=5) as client:
            try:
                nodes = client.get("/api/v0/nodes").json()["data"]["result"]["result"]
            except (httpx.HTTPError, ValueError, KeyError, TypeError):
                return frozenset()
        return frozenset(node["node_ip"] for node in nodes if node["state"] == "ALIVE")

    def wait_for_nodes(self, ready: Callable[[frozenset[str]], bool]) -> None:
        """Until Ray uses such nodes."""
        deadline = time.monotonic() + PATIENCE_S
        while not ready(self.nodes()):
            logs = [path.read_text()[-2000:] for path in self.folder.glob("*.log")]
            assert time.monotonic() < deadline, "\n".join(logs)
            time.sleep(0.2)

    def stop_jobs(self) -> None:
        with httpx.Client(base_url=self.address, trust_env=False) as client:
            for job in client.get("/api/jobs/").json():
                if job["status"] in ("PENDING", "RUNNING") and job["submission_id"]:
                    client.post(f"/api/jobs/{job['submission_id']}/stop")


def ray_environment(python: Path) -> dict[str, str]:
    """Of Ray's own processes."""
    own = {
        "PATH": f"{python.parent}:{os.environ['PATH']}",
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_DISABLE_IMPORT_WARNING": "1",
    }
    return {**os.environ, **own, **HEALTH_CHECKS}


def head_command(python: Path, host: str, sessions: Path, cpus: int) -> tuple[str, ...]:
    return (
        *(str(python.parent / "ray"), "start", "--head", "--block"),
        *(f"--node-ip-address={host}", f"--num-cpus={cpus}", f"--temp-dir={sessions}"),
        *(f"--dashboard-host={host}", f"--dashboard-port={PORT}"),
    )


@contextmanager
def running_ray(python: Path, folder: Path, cpus: int = 4) -> Iterator[RayCluster]:
    with connected_machines(HEAD) as machines:
        host = machines.address(HEAD)
        found = RayCluster(python, folder, host, machines.here)
        space = f"--net=/var/run/netns/{machines.space(HEAD)}"
        with (folder / "head.log").open("wb") as log:
            head = subprocess.Popen(
                ("nsenter", space, *head_command(python, host, folder, cpus)),
                env=ray_environment(python),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            found.wait_for_nodes(lambda nodes: host in nodes)
            yield found
        finally:
            head.terminate()
            head.wait()
