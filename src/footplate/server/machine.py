"""This machine: its clock, its randomness, its memory, its ports."""

from __future__ import annotations

import os
import secrets
import socket
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from footplate.domain.names import JobUid

_CGROUP_LIMITS = (
    Path("/sys/fs/cgroup/memory.max"),
    Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"),
)


class SystemClock:
    """Implements ports.clock.Clock."""

    def now(self) -> datetime:
        return datetime.now(UTC)


class RandomIds:
    """Implements control.jobs.Ids with 64 and more random bits."""

    def uid(self) -> JobUid:
        return JobUid(secrets.token_hex(10))

    def number(self) -> int:
        """19 digits, first not 0: what the real service's ids look like."""
        return secrets.randbelow(9 * 10**18) + 10**18


def memory_bytes() -> int:
    """The memory of this machine, or of the container that this process runs in."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for file in _CGROUP_LIMITS:
        with suppress(OSError, ValueError):
            total = min(total, int(file.read_text()))
    return total


def free_port() -> int:
    """A port of the loopback address that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
