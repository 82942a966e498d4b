"""Machines for tests: namespaces of this one, on a switch whose links can be cut.

Each has a network with an address of its own, its own processes, mounts and host name. Files are
this machine's. Killing its first process kills all of them at once.
"""

from __future__ import annotations

import itertools
import os
import select
import signal
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.requirements import require_packages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LIMIT_S = 60.0
_NETS = 40
_MADE, _STEP = itertools.count(), 3001
"""A process may have several switches at once, with machines of their own."""
_INIT = 'hostname "$0"; "$@"; exit'
"""A shell, which stays the first process: it collects the children of processes that died."""


def require_machines() -> None:
    require_packages("machines in namespaces", "iproute2", "util-linux", root=True)


class Machines:
    """``names`` are machines that can be started; this machine is on their switch, too.

    ``own_uptime``: each counts from its own start for how long it is up.
    """

    def __init__(self, names: Sequence[str], *, own_uptime: bool = False) -> None:
        self._own_uptime = own_uptime
        number = (os.getpid() + _STEP * next(_MADE)) % (_NETS * 256)
        self.names = tuple(names)
        self._prefix = f"fp{number}"
        self._net = f"10.{80 + number // 256}.{number % 256}"
        self._inits: dict[str, subprocess.Popen[bytes]] = {}

    @property
    def here(self) -> str:
        """The address of this machine."""
        return f"{self._net}.254"

    def address(self, name: str) -> str:
        return f"{self._net}.{1 + self.names.index(name)}"

    def space(self, name: str) -> str:
        """The network namespace of a machine."""
        return f"{self._prefix}-{name}"

    def start(
        self, name: str, *command: str | Path, environment: Mapping[str, str], log: Path
    ) -> None:
        """Start the machine, whose first process runs ``command``."""
        with log.open("ab") as output:
            self._inits[name] = subprocess.Popen(
                (
                    *("nsenter", f"--net=/var/run/netns/{self.space(name)}"),
                    *("unshare", "--mount", "--pid", "--fork", "--uts", "--kill-child"),
                    *self._time_options(),
                    *("--mount-proc", "bash", "-c", _INIT, name, *command),
                ),
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                cwd="/",
                start_new_session=True,
            )

    def _time_options(self) -> tuple[str, ...]:
        if not self._own_uptime:
            return ()
        return ("--time", f"--boottime=-{int(time.clock_gettime(time.CLOCK_BOOTTIME))}")

    def runs(self, name: str) -> bool:
        return name in self._inits

    def kill(self, name: str) -> None:
        """All its processes are gone when this returns, and its disk is as it was."""
        outside = self._inits.pop(name)
        first = [os.pidfd_open(pid) for pid in _children(outside.pid)]
        outside.kill()
        outside.wait()
        for descriptor in first:  # it ends after all others of its machine
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
            assert select.select([descriptor], [], [], LIMIT_S)[0], f"{name} does not end"
            os.close(descriptor)

    def cut(self, name: str) -> None:
        """Nothing reaches the machine, and nothing comes from it; its own interface stays up."""
        _ip("-n", self._switch, "link", "set", self._port(name), "nomaster")

    def heal(self, name: str) -> None:
        _ip("-n", self._switch, "link", "set", self._port(name), "master", "bridge")

    @property
    def _switch(self) -> str:
        return f"{self._prefix}-switch"

    def _port(self, name: str) -> str:
        return f"port-{name}"[:15]

    def connect(self) -> None:
        _ip("netns", "add", self._switch)
        _ip("-n", self._switch, "link", "add", "bridge", "type", "bridge")
        _ip("-n", self._switch, "link", "set", "bridge", "up")
        _ip("link", "add", self._prefix, "type", "veth", "peer", "here", "netns", self._switch)
        _ip("addr", "add", f"{self.here}/24", "dev", self._prefix)
        _ip("link", "set", self._prefix, "up")
        _ip("-n", self._switch, "link", "set", "here", "master", "bridge", "up")
        for name in self.names:
            space, port = self.space(name), self._port(name)
            _ip("netns", "add", space)
            _ip("-n", space, "link", "set", "lo", "up")
            pair = ("link", "add", "eth0", "type", "veth", "peer", port, "netns", self._switch)
            _ip("-n", space, *pair)
            _ip("-n", self._switch, "link", "set", port, "master", "bridge", "up")
            _ip("-n", space, "addr", "add", f"{self.address(name)}/24", "dev", "eth0")
            _ip("-n", space, "link", "set", "eth0", "up")

    def close(self) -> None:
        for name in tuple(self._inits):
            self.kill(name)
        spaces = [self.space(name) for name in self.names]
        for words in (("link", "del", self._prefix), *(("netns", "del", s) for s in spaces)):
            subprocess.run(("ip", *words), check=False, capture_output=True)
        subprocess.run(("ip", "netns", "del", self._switch), check=False, capture_output=True)


@contextmanager
def connected_machines(*names: str, own_uptime: bool = False) -> Iterator[Machines]:
    machines = Machines(names, own_uptime=own_uptime)
    try:
        machines.connect()
        yield machines
    finally:
        machines.close()


def _ip(*words: str) -> None:
    done = subprocess.run(("ip", *words), capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"


def _children(pid: int) -> list[int]:
    try:
        text = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    except OSError:
        return []
    return [int(word) for word in text.split()]
