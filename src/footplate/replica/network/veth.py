"""Creates and removes network namespaces and veth pairs, in child processes.

One process of the machine's network namespace at a time changes its bridge: it locks the
namespace itself, a lock that no file and no death can leave behind.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager

from footplate.replica.isolation import syscalls
from footplate.replica.network.addresses import (
    BRIDGE,
    GATEWAY,
    GATEWAY_HARDWARE,
    INSIDE,
    OWN,
    PREFIX_LENGTH,
    SUBNET,
    Address,
)
from footplate.replica.network.ip_commands import CommandFailed, run
from footplate.replica.network.nat import Nat, switch_on

TYPE_CHECKING = False  # without the module typing, which would cost memory

if TYPE_CHECKING:
    from typing import Iterator

    from footplate.replica.network.ip_commands import Run


_EXISTS = "File exists"


class AddressInUse(Exception):
    """Somebody has the address."""


class Bridge:
    """``run`` runs its commands in the network namespace of the machine."""

    def __init__(self, run: Run) -> None:
        self._run = run

    def conflict(self) -> str:
        """What else on this machine uses addresses of ours; empty: nothing does."""
        routes = self._ip("-4", "-o", "route", "show", "root", SUBNET).splitlines()
        others = [route.strip() for route in routes if f"dev {BRIDGE} " not in f"{route} "]
        return f"{SUBNET} is in use here: {others[0]}" if others else ""

    def make(self) -> None:
        """Have it, complete, whatever is there of it so far."""
        self._add("link", "add", BRIDGE, "address", GATEWAY_HARDWARE, "type", "bridge")
        self._ip("addr", "replace", f"{GATEWAY}/{PREFIX_LENGTH}", "dev", BRIDGE)
        self._ip("link", "set", BRIDGE, "up")

    def connect(self, address: Address, namespace: str) -> int:
        """Make the device ``eth0`` in the namespace at this path; the index of its other end.

        Raises:
            AddressInUse: it is another replica's.
        """
        link = address.link
        peer = ["peer", "name", INSIDE, "address", address.hardware, "netns", namespace]
        if not self._add("link", "add", link, "type", "veth", *peer):
            raise AddressInUse(f"{address.host} is taken on this machine")
        try:
            self._ip("link", "set", link, "master", BRIDGE, "up")
            index = self._index(link)
        except CommandFailed:
            self._delete(link)
            raise
        return index

    def disconnect(self, link: str, index: int) -> None:
        """Remove this very device, if it is still there."""
        try:
            found = self._index(link)
        except CommandFailed:
            return
        if found == index:
            self._delete(link)

    @property
    def is_idle(self) -> bool:
        """Whether no replica is connected; not so where there is no bridge."""
        try:
            return not self._ip("-o", "link", "show", "master", BRIDGE).strip()
        except CommandFailed:
            return False

    def remove(self) -> None:
        self._delete(BRIDGE)

    def _index(self, link: str) -> int:
        return int(self._ip("-o", "link", "show", "dev", link).partition(":")[0])

    def _delete(self, link: str) -> None:
        """The kernel may have been faster: it does so when the namespace goes."""
        try:
            self._ip("link", "delete", link)
        except CommandFailed:
            return

    def _add(self, *arguments: str) -> bool:
        """False: there is such a device."""
        try:
            self._ip(*arguments)
        except CommandFailed as error:
            if _EXISTS not in str(error):
                raise
            return False
        return True

    def _ip(self, *arguments: str) -> str:
        return self._run(["ip", *arguments], "")


def configure_bridge(run: Run, address: Address) -> None:
    """Give the new namespace, in which ``run`` runs its commands, its addresses and its route."""
    for arguments in (
        ("link", "set", "lo", "up"),
        ("addr", "add", f"{address.host}/{PREFIX_LENGTH}", "dev", INSIDE),
        ("link", "set", INSIDE, "up"),
        ("route", "add", "default", "via", GATEWAY),
    ):
        run(["ip", *arguments], "")


_MOST_DRAWS = 100
_TIMEOUT_S = 5.0
"""How long a wanted address is waited for: what had it before may be about to go."""
_INTERVAL_S = 0.05


class VethConfig:
    """``namespace`` is a descriptor; ``index`` that of the device on the machine's side."""

    __slots__ = ("address", "faults", "index", "namespace")

    def __init__(self, address: Address, index: int, namespace: int, faults: list[str]) -> None:
        self.address = address
        self.index = index
        self.namespace = namespace
        self.faults = faults


def wire(wanted: Address | None) -> VethConfig:
    """A new namespace with the ``wanted`` or any free address; this process enters it.

    ``faults``: why the outside can't be reached.

    Raises:
        OSError: this process may not have namespaces.
        CommandFailed: they can't be connected.
        AddressInUse: somebody has the wanted address, or so many that none was found.
    """
    machine = _open_own()
    syscalls.unshare(syscalls.CLONE_NEWNET)
    namespace = _open_own()
    syscalls.enter_network(machine)
    path = f"/proc/{os.getpid()}/fd/{namespace}"
    end = time.monotonic() + _TIMEOUT_S
    while True:
        try:
            address, index, faults = _connect(machine, wanted, path)
            break
        except AddressInUse:
            if wanted is None or time.monotonic() >= end:
                raise
            time.sleep(_INTERVAL_S)
    syscalls.enter_network(namespace)
    os.close(machine)
    configure_bridge(run, address)
    return VethConfig(address, index, namespace, faults)


def unwire(link: str, index: int) -> None:
    """Remove a device of ours if it is this one; with the last one all else that was made."""
    machine = _open_own()
    bridge = Bridge(run)
    with _locked(machine):
        bridge.disconnect(link, index)
        if bridge.is_idle:
            bridge.remove()
            Nat(run, switch_on).close()
    os.close(machine)


def find_conflict() -> str:
    """Why the bridge's addresses can't be had on this machine; empty if they can."""
    try:
        return Bridge(run).conflict()
    except CommandFailed as error:
        return str(error)


def _connect(machine: int, wanted: Address | None, path: str) -> tuple[Address, int, list[str]]:
    with _locked(machine):
        bridge = Bridge(run)
        bridge.make()
        faults = Nat(run, switch_on).open()
        address, index = draw(bridge, wanted, path)
    return address, index, faults


def draw(bridge: Bridge, wanted: Address | None, path: str) -> tuple[Address, int]:
    """Connect the namespace at ``path``; Raises AddressInUse, CommandFailed."""
    for _ in range(_MOST_DRAWS):
        address = wanted or Address.draw()
        try:
            return address, bridge.connect(address, path)
        except AddressInUse:
            if wanted is not None:
                raise
    raise AddressInUse(f"{_MOST_DRAWS} addresses were drawn, and all are taken")


@contextmanager
def _locked(namespace: int) -> Iterator[None]:
    fcntl.flock(namespace, fcntl.LOCK_EX)
    try:
        yield
    finally:
        fcntl.flock(namespace, fcntl.LOCK_UN)


def _open_own() -> int:
    return os.open(OWN, os.O_RDONLY | os.O_CLOEXEC)
