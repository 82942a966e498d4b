"""Resolves the setting ``program_users``: whom programs run as where the service is root."""

from __future__ import annotations

import grp
import os
import pwd
from collections.abc import Iterator, Sequence
from pathlib import Path

from footplate.domain.errors import FailedPrecondition
from footplate.replica.isolation import levels
from footplate.settings import EVERY_PROJECT

DEFAULT_RANGE = (1879048192, 2147352575)
"""Ids for which systemd and shadow have no use."""
_FALLBACK_COUNT = 4096
_MIN_ID = 1000
_SUBORDINATE = ("/etc/subuid", "/etc/subgid")
_MOUNT = "CAP_SYS_ADMIN"
_CHANGE_USERS = ("CAP_SETUID", "CAP_SETGID")
_CAPABILITIES = {"CAP_SETGID": 6, "CAP_SETUID": 7, _MOUNT: 21}
_OPEN = (levels.SUBREAPER.name, levels.BEST_EFFORT.name)
"""Containment modes without process namespaces."""
_STATUS = Path("/proc/self/status")
_UID_MAP = Path("/proc/self/uid_map")


def resolve(setting: str | None) -> tuple[int | str, ...] | None:
    """Returns the users for tickets: ``[first, last]`` or ``[uid, gid, name]``; None unless this is
    root.

    Raises FailedPrecondition if the user doesn't exist, or the range contains ids of others.
    """
    if os.geteuid() != 0:
        return None
    if setting is None:
        return _choose_range()
    first, dash, last = setting.partition("-")
    if dash and first.isdigit() and last.isdigit():
        return _check_range(int(first), int(last))
    return _find_user(setting)


def describe_power(
    allow_root: Sequence[str],
    uid: int | None = None,
    status: Path = _STATUS,
    isolation: str = "auto",
    users: str | None = None,
) -> tuple[str, ...]:
    """Returns warnings of programs with more rights than they need, and how to change that.

    ``isolation`` is the setting, and ``users`` is ``program_users``.
    """
    is_root = (os.geteuid() if uid is None else uid) == 0
    power = _describe_root(allow_root, status) if is_root else _describe_ordinary(users)
    if isolation not in _OPEN:
        return power
    return (
        *power,
        (
            "Programs can see all processes of this machine, and signal those of their user "
            "(setting isolation). To prevent this, set isolation = auto."
        ),
    )


def _describe_ordinary(users: str | None) -> tuple[str, ...]:
    if users is None:
        return ()
    return (
        (
            "The setting program_users has no effect, because the service doesn't run as root. "
            "Start the service as root, or remove the setting."
        ),
    )


def _describe_root(allow_root: Sequence[str], status: Path) -> tuple[str, ...]:
    held = _read_capabilities(status)
    if missing := [name for name in _CHANGE_USERS if name not in held]:
        names = " and ".join(missing)
        return (
            (
                f"Programs run as root, because the service runs as root without {names}. Run "
                f"the service as an ordinary user, or with {names}."
            ),
        )
    notes = []
    if _MOUNT not in held:
        notes.append(
            f"The service runs as root without {_MOUNT}, so programs can see the service's "
            "files. Programs run as root, too, if no other user can reach the data directory. "
            f"Run the service as an ordinary user, or with {_MOUNT}."
        )
    if allow_root:
        whose = (
            "all projects" if EVERY_PROJECT in allow_root else f"projects {', '.join(allow_root)}"
        )
        notes.append(f"Programs of {whose} run as root (setting allow_root).")
    return tuple(notes)


def _read_capabilities(status: Path) -> set[str]:
    """Returns which of the capabilities that matter here this process has."""
    lines = (line.split() for line in _read(status) if line.startswith("CapEff:"))
    bits = next((int(words[1], 16) for words in lines), 0)
    return {name for name, number in _CAPABILITIES.items() if bits >> number & 1}


def _find_user(name: str) -> tuple[int | str, ...]:
    try:
        found = pwd.getpwnam(name)
    except KeyError:
        raise FailedPrecondition(
            f"program_users: {name!r} given, but this machine has no such user; allowed: the "
            "name of a user, or a range of ids such as 1879048192-1879113727"
        ) from None
    if found.pw_uid == 0:
        raise FailedPrecondition(
            f"program_users: the user {name!r} is root; to let programs run as root, set allow_root"
        )
    return found.pw_uid, found.pw_gid, name


def _check_range(first: int, last: int) -> tuple[int, int]:
    if first == 0 or first >= last:
        raise FailedPrecondition(
            f"program_users: {first}-{last} given; allowed: a range of two ids or more, "
            "without 0 (root)"
        )
    for start, end, owner in _find_taken():
        if first <= end and start <= last:
            raise FailedPrecondition(
                f"program_users: {first}-{last} given, but this range contains {owner}; a free "
                f"range is {DEFAULT_RANGE[0]}-{DEFAULT_RANGE[1]}"
            )
    return first, last


def _choose_range() -> tuple[int, int]:
    """Returns a free range of ids that this user namespace has; a container may have few."""
    blocks = [tuple(map(int, line.split())) for line in _read(_UID_MAP)] or [(0, 0, 1 << 32)]
    taken = list(_find_taken())
    for start, count in ((block[0], block[2]) for block in blocks):
        if start <= DEFAULT_RANGE[0] and DEFAULT_RANGE[1] < start + count:
            return DEFAULT_RANGE
    for start, count in sorted(((block[0], block[2]) for block in blocks), reverse=True):
        last = start + count - 1
        while last - _FALLBACK_COUNT >= max(start, _MIN_ID):
            first = last - _FALLBACK_COUNT + 1
            others = [low for low, high, _ in taken if low <= last and first <= high]
            if not others:
                return first, last
            last = min(others) - 1
    return DEFAULT_RANGE  # programs then say that they can't be other users


def _find_taken() -> Iterator[tuple[int, int, str]]:
    """Yields first and last id of ranges in use, and their owners."""
    for user in pwd.getpwall():
        yield user.pw_uid, user.pw_uid, f"the user {user.pw_name}"
    for group in grp.getgrall():
        yield group.gr_gid, group.gr_gid, f"the group {group.gr_name}"
    for path in _SUBORDINATE:
        for line in _read(Path(path)):
            name, _, rest = line.partition(":")
            start, _, count = rest.partition(":")
            if start.isdigit() and count.isdigit():
                last = int(start) + int(count) - 1
                yield int(start), last, f"the subordinate ids of the user {name} ({path})"


def _read(path: Path) -> list[str]:
    try:
        return [line for line in path.read_text().splitlines() if line.strip()]
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return []
