"""NAT from the bridge to the outside, and who may use it.

Whoever is outside can answer replicas, and not call them.
"""

from __future__ import annotations

from footplate.replica.network.addresses import BRIDGE, SUBNET
from footplate.replica.network.ip_commands import CommandFailed, NoCommand

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable

    from footplate.replica.network.ip_commands import Run

TABLE = "footplate"
_SWITCH = "/proc/sys/net/ipv4/conf/{}/forwarding"
_NFT_RULES = f"""\
table ip {TABLE} {{
  chain leave {{
    type nat hook postrouting priority srcnat;
    ip saddr {SUBNET} ip daddr != {SUBNET} masquerade
  }}
  chain enter {{
    type filter hook forward priority filter;
    iifname != "{BRIDGE}" oifname "{BRIDGE}" ct state != {{ established, related }} drop
  }}
}}
"""
_ENTER = ["-o", BRIDGE, "!", "-i", BRIDGE]
_ANSWERS = ["-m", "conntrack", "--ctstate", "RELATED,ESTABLISHED"]
_IPTABLES_RULES = (
    ("nat", "POSTROUTING", ["-s", SUBNET, "!", "-d", SUBNET, "-j", "MASQUERADE"]),
    ("filter", "FORWARD", [*_ENTER, "-j", "DROP"]),
    ("filter", "FORWARD", [*_ENTER, *_ANSWERS, "-j", "ACCEPT"]),
    ("filter", "FORWARD", ["-i", BRIDGE, "-j", "ACCEPT"]),
)
"""In the order in which they are inserted: each goes before those above it."""


class Nat:
    """``run`` runs in the network namespace of the machine, where ``switch`` writes, too."""

    def __init__(self, run: Run, switch: Callable[[str], None]) -> None:
        self._run = run
        self._switch = switch

    def open(self) -> list[str]:
        """Set up NAT; returns why it is not available, or empty.

        Where iptables is, whose chains may drop what is forwarded (Docker's do), it takes
        rules there; else nft makes a table of its own.
        """
        reasons = []
        for masquerade in (self._use_iptables, self._use_nft):
            try:
                masquerade()
            except CommandFailed as error:
                reasons.append(str(error))
            else:
                return self._forward()
        return [f"nothing masquerades: {'; '.join(reasons)}"]

    def close(self) -> None:
        """Remove all rules; the forwarding of the machine's own devices stays as it is."""
        self._drop_iptables()
        try:
            self._run(["nft", "delete", "table", "ip", TABLE], "")
        except CommandFailed:
            return

    def _forward(self) -> list[str]:
        """Between the bridge and the devices of default routes, and no others."""
        try:
            routes = self._run(["ip", "-4", "-o", "route", "show", "default"], "")
        except CommandFailed as error:
            return [str(error)]
        devices = [words[words.index("dev") + 1] for words in map(str.split, routes.splitlines())]
        if not devices:
            return ["this machine has no default route"]
        for device in dict.fromkeys((BRIDGE, *devices)):
            try:
                self._switch(_SWITCH.format(device))
            except OSError as error:
                return [f"{device} can't be made to forward: {error.strerror}"]
        return []

    def _use_iptables(self) -> None:
        """All of them anew if one is missing, for their order counts."""
        try:
            for rule in _IPTABLES_RULES:
                self._iptables("-C", *rule)
        except NoCommand:
            raise
        except CommandFailed:
            self._drop_iptables()
            for rule in _IPTABLES_RULES:
                self._iptables("-I", *rule)

    def _drop_iptables(self) -> None:
        for rule in _IPTABLES_RULES:
            try:
                self._iptables("-D", *rule)
            except NoCommand:
                return
            except CommandFailed:
                continue

    def _iptables(self, action: str, table: str, chain: str, rule: list[str]) -> None:
        self._run(["iptables", "-w", "-t", table, action, chain, *rule], "")

    def _use_nft(self) -> None:
        """In one transaction, so that there is never half of it."""
        self._run(["nft", "-f", "-"], f"table ip {TABLE}\ndelete table ip {TABLE}\n{_NFT_RULES}")


def switch_on(path: str) -> None:
    """Raises OSError."""
    with open(path, "r+", encoding="ascii") as file:
        if file.read().strip() != "1":
            file.seek(0)
            file.write("1")
