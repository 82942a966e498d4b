"""A real Ray for tests: one head, in a network namespace that this machine reaches."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import httpx

from tests.support.requirements import require

if TYPE_CHECKING:
    from collections.abc import Iterator

HERE, THERE = "10.78.0.1", "10.78.0.2"
"""Addresses of this machine and of the cluster's namespace, on the link between them."""
SPACE, LINK = "fp-ray", "fp-ray0"
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
    """``python`` is the interpreter that has Ray; ``folder`` is the cluster's."""

    python: Path
    folder: Path

    @property
    def address(self) -> str:
        return f"http://{THERE}:{PORT}"

    def stop_jobs(self) -> None:
        with httpx.Client(base_url=self.address, trust_env=False) as client:
            for job in client.get("/api/jobs/").json():
                if job["status"] in ("PENDING", "RUNNING") and job["submission_id"]:
                    client.post(f"/api/jobs/{job['submission_id']}/stop")


def require_namespaces() -> None:
    absent = [name for name in ("ip", "nsenter") if shutil.which(name) is None]
    if os.geteuid() != 0:
        absent.append("root")
    require(f"Ray's namespace needs {', '.join(absent)}" if absent else None)


@contextmanager
def running_ray(python: Path, folder: Path, cpus: int = 4) -> Iterator[RayCluster]:
    """One at a time on a machine: the others wait."""
    with (Path(tempfile.gettempdir()) / f"{SPACE}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with _run_head(python, folder, cpus) as cluster:
            yield cluster


@contextmanager
def _run_head(python: Path, folder: Path, cpus: int) -> Iterator[RayCluster]:
    variables = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    variables |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DISABLE_IMPORT_WARNING": "1"}
    variables |= HEALTH_CHECKS
    start = ("start", "--head", "--block", f"--node-ip-address={THERE}", f"--num-cpus={cpus}")
    listen = (f"--dashboard-host={THERE}", f"--dashboard-port={PORT}", f"--temp-dir={folder}")
    _remove_link()
    _make_link()
    try:
        with (folder / "ray.log").open("wb") as log:
            head = subprocess.Popen(
                (
                    "nsenter",
                    f"--net=/var/run/netns/{SPACE}",
                    python.parent / "ray",
                    *start,
                    *listen,
                ),
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        try:
            found = RayCluster(python, folder)
            _wait_until_it_answers(found)
            yield found
        finally:
            head.terminate()
            head.wait()
    finally:
        _remove_link()


def _wait_until_it_answers(cluster: RayCluster) -> None:
    deadline = time.monotonic() + PATIENCE_S
    with httpx.Client(base_url=cluster.address, trust_env=False, timeout=5) as client:
        while True:
            try:
                nodes = client.get("/api/v0/nodes").json()
                if any(n["state"] == "ALIVE" for n in nodes["data"]["result"]["result"]):
                    return
            except (httpx.HTTPError, ValueError, KeyError, TypeError):
                pass
            assert time.monotonic() < deadline, (cluster.folder / "ray.log").read_text()[-4000:]
            time.sleep(0.2)


def _make_link() -> None:
    inside = f"{LINK}p"
    for command in (
        f"ip netns add {SPACE}",
        f"ip link add {LINK} type veth peer name {inside} netns {SPACE}",
        f"ip addr add {HERE}/30 dev {LINK}",
        f"ip link set {LINK} up",
        f"ip -n {SPACE} addr add {THERE}/30 dev {inside}",
        f"ip -n {SPACE} link set {inside} up",
        f"ip -n {SPACE} link set lo up",
    ):
        subprocess.run(command.split(), check=True, capture_output=True)


def _remove_link() -> None:
    for command in (f"ip link del {LINK}", f"ip netns del {SPACE}"):
        subprocess.run(command.split(), check=False, capture_output=True)
