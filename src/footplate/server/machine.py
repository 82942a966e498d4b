"""This machine: random ids, memory, CPUs, ports."""

from __future__ import annotations

import os
import resource
import secrets
import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from footplate.domain.names import JobUid
from footplate.replica.isolation.cgroup_hierarchies import find_hierarchies
from footplate.replica.isolation.procfs import UNSEEN, boot_id

_UNBOUNDED = 1 << 20


class RandomIds:
    """Implements control.jobs.Ids with 64 and more random bits."""

    def uid(self) -> JobUid:
        return JobUid(secrets.token_hex(10))

    def number(self) -> int:
        """Returns 19 digits, the first not 0, as in the ids of the real service."""
        return secrets.randbelow(9 * 10**18) + 10**18


def machine_id() -> str:
    """Returns an id that processes which see each other share: of boot and namespace."""
    with suppress(*UNSEEN):
        return f"{boot_id()}/{Path('/proc/self/ns/pid').readlink()}"
    return boot_id() or socket.gethostname()


def memory_bytes() -> int:
    """Returns the memory of this machine, or the limit of this process's control groups."""
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for kind, name in (("cgroup2", "memory.max"), ("memory", "memory.limit_in_bytes")):
        for text in _read_bounds(kind, name):
            with suppress(ValueError):
                total = min(total, int(text))
    return total


def cpus() -> int:
    """Returns the CPUs that this process may use, or its control groups' whole CPUs."""
    if hasattr(os, "sched_getaffinity"):
        number = len(os.sched_getaffinity(0))
    else:
        number = os.cpu_count() or 1
    for text in _read_bounds("cgroup2", "cpu.max"):
        number = min(number, _whole(*text.split()[:2]))
    for quota, period in zip(
        _read_bounds("cpu", "cpu.cfs_quota_us"),
        _read_bounds("cpu", "cpu.cfs_period_us"),
        strict=False,
    ):
        number = min(number, _whole(quota, period))
    return max(1, number)


def _whole(quota_us: str = "max", period_us: str = "") -> int:
    """Returns the whole CPUs of a quota; without one, more than any machine has."""
    with suppress(ValueError, ZeroDivisionError):
        if int(quota_us) > 0:
            return int(quota_us) // int(period_us)
    return 1 << 20


def _read_bounds(kind: str, name: str) -> Iterator[str]:
    """Yields a file's content in this process's control group and in all groups above it."""
    hierarchy = find_hierarchies().get(kind)
    for group in hierarchy.chain() if hierarchy is not None else ():
        with suppress(*UNSEEN):
            yield Path(group, name).read_text().strip()


def free_port() -> int:
    """Returns a port of the loopback address that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def describe_open_files() -> str:
    most = most_connections()
    return f"up to {most} files and connections open at once" if most < _UNBOUNDED else ""


def most_connections() -> int:
    """Returns how many files, and so connections, this process may have open at once."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return _UNBOUNDED if limit == resource.RLIM_INFINITY else limit
