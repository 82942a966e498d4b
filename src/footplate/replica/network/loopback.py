"""Finds loopback services that a namespace lacks: name servers, proxies."""

from __future__ import annotations

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Callable, Mapping

RESOLVERS = "/etc/resolv.conf"
_BEHIND_STUB = "/run/systemd/resolve/resolv.conf"
"""Where systemd tells the servers that it asks itself."""
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
_OWN = ("127.", "localhost", "[::1]", "::1")


def find_resolvers(read: Callable[[str], str]) -> tuple[str, str]:
    """A file to see as /etc/resolv.conf, empty: as it is; and why no names can be found.

    Name servers on the machine's own loopback can't be reached from a namespace.
    """
    for path in (RESOLVERS, _BEHIND_STUB):
        words = [line.split() for line in read(path).splitlines()]
        servers = [line[1] for line in words if line[:1] == ["nameserver"] and line[1:]]
        if any(not server.startswith(_OWN) for server in servers):
            return ("" if path == RESOLVERS else path), ""
    return "", f"{RESOLVERS} names no server beyond this machine's loopback"


def find_lost_proxies(environment: Mapping[str, str]) -> list[str]:
    """Why programs can't reach the proxies of their variables."""
    return [
        f"{name} leads to this machine's loopback"
        for name in _PROXIES
        if environment.get(name, "").rpartition("://")[2].rpartition("@")[2].startswith(_OWN)
    ]


def read(path: str) -> str:
    """Empty where there is none."""
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.read()
    except OSError:  # the network is tried afterwards
        return ""
