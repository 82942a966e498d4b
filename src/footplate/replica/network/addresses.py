"""Addresses of replicas, and names derived from them.

They are from the range for tests between networks (RFC 2544), which real networks don't use.
"""

from __future__ import annotations

import os
import re

SUBNET = "198.18.0.0/16"
GATEWAY = "198.18.0.1"
GATEWAY_HARDWARE = "02:46:c6:12:00:01"
PREFIX_LENGTH = 16
BRIDGE = "footplate0"
INSIDE = "eth0"
"""The device that a program sees."""
OWN = "/proc/self/ns/net"
"""The network namespace that a process is in."""
PORT = 2222
OPEN_PORTS = (3333,)
_FIRST, _LAST = 2, (1 << 16) - 2
_HOST = re.compile(r"198\.18\.(\d{1,3})\.(\d{1,3})")
_LINK = re.compile(r"fp-(\d{1,3})\.(\d{1,3})")


class Address:
    """``number`` is what it has after the network's part."""

    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        """Raises ValueError: it is the bridge's, or outside the network."""
        if not _FIRST <= number <= _LAST:
            raise ValueError(f"{number} given; allowed: {_FIRST} to {_LAST}")
        self.number = number

    @classmethod
    def draw(cls) -> Address:
        """Any of the 65,533."""
        return cls(_FIRST + int.from_bytes(os.urandom(4), "little") % (_LAST - _FIRST + 1))

    @classmethod
    def parse(cls, host: str) -> Address:
        """Raises ValueError."""
        found = _HOST.fullmatch(host)
        if found is None or max(map(int, found.groups())) > 255:
            raise ValueError(f"{host!r} given; allowed: an address of {SUBNET}")
        return cls(int(found.group(1)) << 8 | int(found.group(2)))

    @property
    def host(self) -> str:
        return f"198.18.{self.number >> 8}.{self.number & 255}"

    @property
    def link(self) -> str:
        """The device's name on the machine's side."""
        return f"fp-{self.number >> 8}.{self.number & 255}"

    @property
    def hardware(self) -> str:
        """Always the same, so that what peers have noted stays true when a replica comes again."""
        return f"02:46:c6:12:{self.number >> 8:02x}:{self.number & 255:02x}"


def is_link(name: str) -> bool:
    """Whether a device has the name of ours."""
    return _LINK.fullmatch(name) is not None
