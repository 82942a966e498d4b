"""Reports what this machine enforces of programs, and the environments in its cache."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from footplate.domain.sites import Mode
from footplate.ports.machine import CachedEnvironment, EnforcedLimit, EnvironmentCache
from footplate.protocol.promised import USER
from footplate.replica.environment.cache import Cache, CacheEntry
from footplate.replica.isolation import levels
from footplate.server.isolation_probe import find_limits
from footplate.server.program_users import resolve
from footplate.settings import EVERY_PROJECT

if TYPE_CHECKING:
    from footplate.settings import Settings

_MEANS = {
    "memory": "control groups hold each replica to the memory of its machine type",
    "CPU": "control groups hold each replica to the vCPUs of its machine type",
    "processes": "1024 processes, and 512 more for each vCPU",
}
_STRONG = (levels.CGROUP.name, levels.NAMESPACE.name)
_NETWORK = EnforcedLimit(
    "network",
    "programs use this machine's network; each replica has its own port",
    enforced=False,
)


class MachineReport:
    """Implements ports.machine.Machine. ``probe`` tests the machine, which takes time."""

    def __init__(
        self,
        settings: Settings,
        probe: Callable[[Settings], Mapping[str, object]] = find_limits,
    ) -> None:
        self._settings = settings
        self._probe = probe
        self._lock = threading.Lock()
        self._limits: tuple[EnforcedLimit, ...] = ()

    def limits(self) -> Sequence[EnforcedLimit]:
        with self._lock:
            if not self._limits:
                settings = self._settings
                users, answer = resolve(settings.program_users), self._probe(settings)
                self._limits = describe_enforcement(settings, users, answer)
            return self._limits

    def cache(self) -> EnvironmentCache:
        settings = self._settings
        found = sorted(map(_environment, Cache(str(settings.cache)).look()), key=_last_use)
        return EnvironmentCache(
            path=str(settings.cache),
            limit_bytes=settings.cache_limit_bytes,
            free_bytes=_free_bytes(settings.cache),
            environments=tuple(reversed(found)),
        )


def _free_bytes(path: Path) -> int:
    """Returns the free bytes on the disk of ``path``, which may not exist yet."""
    return shutil.disk_usage(next(each for each in (path, *path.parents) if each.exists())).free


def describe_enforcement(
    settings: Settings, users: Sequence[int | str] | None, answer: Mapping[str, object]
) -> tuple[EnforcedLimit, ...]:
    """Returns the limits with how each is enforced.

    ``users`` is the result of ``program_users.resolve``; ``answer`` is that of the supervisors'
    probe, empty if it failed.
    """
    return (
        *_describe_resources(settings, answer),
        _describe_isolation(answer),
        _describe_users(users, settings.allow_root, answer),
        _NETWORK,
    )


def _describe_resources(
    settings: Settings, answer: Mapping[str, object]
) -> tuple[EnforcedLimit, ...]:
    if settings.mode is not Mode.ENFORCE and settings.limits != "on":
        text = "not limited in emulate mode, unless the setting limits is on"
        return tuple(EnforcedLimit(subject, text, enforced=False) for subject in (*_MEANS, "disk"))
    given = answer.get("faults")
    faults = given if isinstance(given, Mapping) and answer.get("containment_mode") else {}
    limits = [
        EnforcedLimit(
            subject,
            means if fault == "" else f"the server measures this without limiting it: {fault}",
            enforced=fault == "",
        )
        for subject, means in _MEANS.items()
        for fault in (faults.get(subject, "the check failed"),)
    ]
    disk = "the job's bootDiskSizeGb, or 100 GB; the server measures the use every few seconds"
    return (*limits, EnforcedLimit("disk", disk, enforced=True))


def _describe_isolation(answer: Mapping[str, object]) -> EnforcedLimit:
    mode = str(answer.get("containment_mode") or "")
    level = levels.find(mode)
    if level is None:
        return EnforcedLimit("isolation", "the check failed", enforced=False)
    text = f"{mode}: {levels.describe(level.guaranteed, level.missing)}"
    return EnforcedLimit("isolation", text, enforced=mode in _STRONG)


def _describe_users(
    users: Sequence[int | str] | None, root: Sequence[str], answer: Mapping[str, object]
) -> EnforcedLimit:
    if users is None:
        text = "programs run as the user of the service"
        return EnforcedLimit("users", text, enforced=False)
    name = users[-1]
    one = "each start of a replica has its own user id"
    text = f"programs run as the user {name}" if isinstance(name, str) else one
    if EVERY_PROJECT in root:
        return EnforcedLimit("users", "programs run as root (setting allow_root)", enforced=False)
    faults = answer.get("faults")
    if isinstance(faults, Mapping) and faults.get(USER):
        return EnforcedLimit("users", f"programs are root: {faults[USER]}", enforced=False)
    if root:
        text += f"; programs of {', '.join(root)} run as root (setting allow_root)"
    return EnforcedLimit("users", text, enforced=True)


def _environment(found: CacheEntry) -> CachedEnvironment:
    """Returns the environment of a cache entry. Its record is a file that others may have
    written, so it isn't trusted.
    """
    entry, record = found.entry, found.record
    return CachedEnvironment(
        kind=entry.kind,
        key=entry.key,
        runtime=record.runtime,
        slice=record.slice,
        python=record.python,
        packages=record.packages,
        size_bytes=entry.size_bytes,
        last_use_time=datetime.fromtimestamp(entry.used_at, UTC),
        in_use=entry.in_use,
        kept=entry.kept,
        complete=not entry.useless,
    )


def _last_use(each: CachedEnvironment) -> tuple[bool, datetime]:
    return each.in_use, each.last_use_time
