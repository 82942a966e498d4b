"""A network of a test's own: a switch, hosts on it, and links that can be cut.

Each host is a network namespace; none has a way out. A link is cut at the switch: the host sees
its interface up, and nobody answers.
"""

from __future__ import annotations

import itertools
import os
import subprocess
from typing import TYPE_CHECKING

from reduction.tests.rig import LONG_S, ReducerProcess, WorkerProcess
from tests.support.requirements import require_packages

if TYPE_CHECKING:
    from collections.abc import Sequence

_counts = itertools.count()


def needs_network() -> None:
    """Skips the test where no namespaces can be made; in CI it fails there."""
    require_packages("network namespaces", "iproute2", root=True)


class Network:
    def __init__(self) -> None:
        self._prefix = f"fpr{os.getpid()}-{next(_counts)}"
        self._switch = f"{self._prefix}-sw"
        self._hosts: dict[str, str] = {}
        """Their addresses."""
        self._processes: list[ReducerProcess | WorkerProcess] = []

    def __enter__(self) -> Network:
        _ip("netns", "add", self._switch)
        self._at_switch("link", "add", "br0", "type", "bridge")
        self._at_switch("link", "set", "br0", "up")
        return self

    def __exit__(self, *_: object) -> None:
        for each in self._processes:
            each.close()
        for name in [self._switch, *(self._space(host) for host in self._hosts)]:
            _ip("netns", "delete", name)

    def add(self, host: str) -> str:
        """Returns its address."""
        space, address = self._space(host), f"10.99.0.{len(self._hosts) + 1}"
        self._hosts[host] = address
        _ip("netns", "add", space)
        _ip("-n", space, "link", "set", "lo", "up")
        peer = ("peer", "name", host, "netns", self._switch)
        _ip("-n", space, "link", "add", "eth0", "type", "veth", *peer)
        _ip("-n", space, "address", "add", f"{address}/24", "dev", "eth0")
        _ip("-n", space, "link", "set", "eth0", "up")
        self._at_switch("link", "set", host, "up")
        self.restart_in_place(host)
        return address

    def cut(self, host: str) -> None:
        self._at_switch("link", "set", host, "nomaster")

    def restart_in_place(self, host: str) -> None:
        self._at_switch("link", "set", host, "master", "br0")

    def reducers(self, count: int, *arguments: str) -> list[ReducerProcess]:
        """On hosts ``r0``, ``r1``..."""
        started = []
        for index in range(count):
            address = self.add(f"r{index}")
            started.append(ReducerProcess(*arguments, under=self._in(f"r{index}"), host=address))
        self._processes += started
        return started

    def workers(
        self, world: int, reducers: Sequence[ReducerProcess], timeout_s: float
    ) -> list[WorkerProcess]:
        """On hosts ``w0``, ``w1``...; joined."""
        started = [
            self.worker(f"w{rank}", rank, world, reducers, timeout_s) for rank in range(world)
        ]
        for worker in started:
            worker.tell("join")
        for worker in started:
            assert worker.answer().get("said") == "join"
        return started

    def worker(
        self,
        host: str,
        rank: int,
        world: int,
        reducers: Sequence[ReducerProcess],
        timeout_s: float,
    ) -> WorkerProcess:
        """Ready to join."""
        options = {
            "reducers": [each.address for each in reducers],
            "rank": rank,
            "world": world,
            "group": "0",
            "limits": {"timeout_s": timeout_s, "patience_s": LONG_S},
        }
        self.add(host)
        started = WorkerProcess(options, self._in(host))
        self._processes.append(started)
        assert started.answer() == {"said": "ready"}
        return started

    def _in(self, host: str) -> tuple[str, ...]:
        return ("ip", "netns", "exec", self._space(host))

    def _space(self, host: str) -> str:
        return f"{self._prefix}-{host}"

    def _at_switch(self, *words: str) -> None:
        _ip("-n", self._switch, *words)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True, timeout=LONG_S)
