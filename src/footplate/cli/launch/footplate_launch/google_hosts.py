"""Lists Google's hosts, and the error for programs that connect to one."""

from __future__ import annotations

_DOMAINS = ("googleapis.com", "accounts.google.com", "google.internal")
_allowed: tuple[str, ...] = ()
"""Hosts that the user opened, with ``--allow-host``."""
_METADATA = frozenset({"metadata", "169.254.169.254", "fd20:ce::254"})


class RealServiceRefused(RuntimeError):
    """Not an OSError: the clients retry those for minutes, and hide their text."""


def allow_hosts(hosts: tuple[str, ...]) -> None:
    global _allowed  # set once, before the program begins
    _allowed = hosts


def _is_allowed(host: str) -> bool:
    """As clients read ``NO_PROXY``, where these hosts stand, too."""
    name = "." + host.strip("[]").rstrip(".").lower()
    return any(name.endswith("." + each.lower().lstrip(".")) for each in _allowed)


def is_google(host: str) -> bool:
    """Whether ``host`` (a name or an address) belongs to the real service."""
    name = host.strip("[]").rstrip(".").lower()
    if name in _METADATA or _canonical(name) in _METADATA:
        return True
    return any(name == domain or name.endswith("." + domain) for domain in _DOMAINS)


def check_host(host: str) -> None:
    """Raises RealServiceRefused if ``host`` is Google's."""
    if is_google(host) and not _is_allowed(host):
        raise RealServiceRefused(
            f"footplate run stopped a call to {host}: nothing that it starts reaches Google's "
            "real services, so that nothing is billed. Footplate serves aiplatform, ml, storage "
            "and logging; for anything else put a stand-in, or run this without footplate run."
        )


def check_target(target: str) -> None:
    """The same for a target of gRPC: ``dns:///host:443``, ``dns:host:https``, ``[address]:443``."""
    address = target.rpartition("/")[2]
    for host in (address, address.rpartition(":")[0], *address.split(":")):
        check_host(host)


def _canonical(name: str) -> str:
    if not name[:1].isdigit() and ":" not in name:
        return name
    # Imported here: programs that connect by name do not need it.
    import ipaddress

    try:
        return str(ipaddress.ip_address(name.partition("%")[0]))
    except ValueError:
        return name
