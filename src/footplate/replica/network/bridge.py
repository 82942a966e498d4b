"""The bridge that connects the replicas of this machine.

It is made for the first and goes with the last. All of this is done by one process at a time:
see ``wiring``.
"""

from __future__ import annotations

from footplate.replica.network.addresses import (
    BRIDGE,
    GATEWAY,
    GATEWAY_HARDWARE,
    INSIDE,
    PREFIX_LENGTH,
    SUBNET,
    Address,
)
from footplate.replica.network.ip_commands import CommandFailed

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
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
