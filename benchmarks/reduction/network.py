"""Hosts with links of a known rate on this machine, reducers and workers in them.

``FOOTPLATE_LINK_RIG`` is the script that makes the network: one namespace for each host, token
buckets on both ends of its link, a bridge as the switch. It needs root, iproute2 and iperf3.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).resolve().parents[2]
RIG = Path(os.environ.get("FOOTPLATE_LINK_RIG") or ROOT.parent / "shared" / "rigs" / "link_rig.py")
PORT = 7700
SETTINGS = {
    "PYTHONPATH": str(ROOT / "reduction" / "src"),
    "FOOTPLATE_REDUCTION_JOB": "benchmark",
    "FOOTPLATE_REDUCTION_TOKEN": "nothing else is on this network",
    "FOOTPLATE_REDUCTION_PORT": str(PORT),
    "OMP_NUM_THREADS": "1",
    "GLOO_SOCKET_IFNAME": "eth0",
}


@contextmanager
def network(workers: int, reducers: int, rate: str, prefix: str = "fpbench") -> Iterator[Any]:
    """A rig that is up. Its state lies in a folder of its own; ``prefix`` begins the names of its
    namespaces, and what another one of that name has left is removed."""
    with tempfile.TemporaryDirectory() as folder:
        os.environ["RIG_STATE"] = folder
        spec = importlib.util.spec_from_file_location("link_rig", RIG)
        if spec is None or spec.loader is None:
            raise RuntimeError(f"there is no rig at {RIG}")
        module = importlib.util.module_from_spec(spec)
        sys.modules["link_rig"] = module
        spec.loader.exec_module(module)
        with module.Rig(workers, reducers, rate, prefix=prefix, subnet=78) as rig:
            yield rig


@dataclass(frozen=True)
class Place:
    name: str
    ip: str = "127.0.0.1"


class Loopback:
    """This machine, as a network without links."""

    def __init__(self, workers: int, reducers: int) -> None:
        self.workers = [Place(f"w{rank}") for rank in range(workers)]
        self.reducers = [Place(f"r{index}") for index in range(reducers)]

    def popen(self, _: Place, command: list[str], **keywords: Any) -> subprocess.Popen[Any]:
        keywords["env"] = {**keywords["env"], "GLOO_SOCKET_IFNAME": "lo"}
        return subprocess.Popen(command, **keywords)


class Reducers:
    """One in each reducer's host; counts what they have done, and the CPU that it took."""

    def __init__(self, processes: list[subprocess.Popen[Any]], stats: list[Path]) -> None:
        self._processes = processes
        self._stats = stats

    def await_start(self) -> None:
        while not all(path.exists() for path in self._stats):
            time.sleep(0.05)

    def cpu_s(self) -> float:
        ticks = 0
        for process in self._processes:
            fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        return ticks / os.sysconf("SC_CLK_TCK")

    def received_gb(self) -> float:
        time.sleep(1.5)  # they say so once a second
        return sum(json.loads(path.read_text())["received_bytes"] for path in self._stats) / 1e9


@contextmanager
def reducers(rig: Any, per_host: int = 1, **settings: str) -> Iterator[Reducers]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        processes, stats = [], []
        for host in rig.reducers:
            for index in range(per_host):
                path = folder / f"{host.name}-{index}.json"
                environment = {
                    **os.environ,
                    **SETTINGS,
                    **settings,
                    "FOOTPLATE_REDUCTION_PORT": str(PORT + index),
                    "FOOTPLATE_REDUCTION_STATS": str(path),
                }
                command = [sys.executable, "-m", "footplate_reduction", "reducer"]
                output = stack.enter_context((folder / f"{host.name}-{index}.log").open("w"))
                processes.append(rig.popen(host, command, env=environment, stdout=output))
                stats.append(path)
        try:
            yield Reducers(processes, stats)
        finally:
            for process in processes:
                process.terminate()
                process.wait()


def addresses(rig: Any, index: int = 0) -> str:
    return ",".join(f"{host.ip}:{PORT + index}" for host in rig.reducers)


class Workers:
    """One on each of the hosts, at once; ``rows`` waits for them."""

    def __init__(
        self, rig: Any, orders: dict[str, Any], hosts: Sequence[Any], script: str = "worker.py"
    ) -> None:
        orders = {**orders, "world": len(hosts), "master": hosts[0].ip}
        path = str(Path(__file__).with_name(script))
        self._processes = [
            rig.popen(
                host,
                [sys.executable, path, json.dumps({**orders, "rank": rank})],
                env={**os.environ, **SETTINGS},
                stdout=None if rank else subprocess.PIPE,
                text=True,
            )
            for rank, host in enumerate(hosts)
        ]

    def rows(self) -> list[dict[str, Any]]:
        """What rank 0 said, line by line."""
        said, _ = self._processes[0].communicate()
        statuses = [process.wait() for process in self._processes]
        if any(statuses):
            raise RuntimeError("a worker failed")
        return [json.loads(line) for line in said.splitlines()]


def run_workers(
    rig: Any, orders: dict[str, Any], script: str = "worker.py"
) -> list[dict[str, Any]]:
    """One on each of the workers' hosts."""
    return Workers(rig, orders, rig.workers, script).rows()
