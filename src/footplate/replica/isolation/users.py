"""The user that a program runs as where the service is root: one without any power.

A range of user ids is given to the programs, one id to each start of a replica. An id is reserved
by a name of the abstract kind in the network namespace of the supervisors: services on one machine
may share a range, and the kernel frees the name when the supervisor ends. All programs of a range
have its first id as their group.
"""

from __future__ import annotations

import errno
import os
import socket

from footplate.replica.isolation import syscalls

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Iterator, Sequence

CONTAINER_IDS = 65536
"""The number of users that an image has by custom."""
_RESERVED = "\0footplate-user-{}"
_MAX_ATTEMPTS = 10_000
_DEVICES = ("nvidia", "kfd")
_DEVICE_DIRECTORY = "/dev"
_RENDER_DIRECTORY = "/dev/dri"
_OTHERS_READ_AND_WRITE = 0o006


class NoUser(Exception):
    """Error of a range of users of which all ids are in use."""


class User:
    """The system user that a program runs as. ``groups`` are the supplementary groups.
    ``reservation`` is a socket that reserves the id as long as it is open.
    """

    __slots__ = ("gid", "groups", "name", "reservation", "uid")

    def __init__(
        self,
        uid: int,
        gid: int,
        groups: Sequence[int] = (),
        name: str = "footplate",
        reservation: socket.socket | None = None,
    ) -> None:
        self.uid = uid
        self.gid = gid
        self.groups = groups
        self.name = name
        self.reservation = reservation

    @property
    def alone(self) -> bool:
        """Says whether this program alone has the id."""
        return self.reservation is not None

    def release(self) -> None:
        """Frees the id for others: no process runs as this user any more."""
        if self.reservation is not None:
            self.reservation.close()

    def encode(self) -> list[Any]:
        """Returns the user in a form for another process, by JSON or marshal."""
        return [self.uid, self.gid, list(self.groups), self.name]

    @classmethod
    def decode(cls, encoded: Sequence[Any]) -> User:
        uid, gid, groups, name = encoded
        return cls(uid, gid, groups, name)


def reserve(first: int, last: int) -> User:
    """Returns a user of the range whom no other supervisor of this machine has. Raises NoUser."""
    containers = find_container_ids((first, last))
    count = (containers or last + 1) - first - 1  # the first one is the group
    start = int.from_bytes(os.urandom(8), "little")
    for step in range(min(count, _MAX_ATTEMPTS)):
        uid = first + 1 + (start + step) % count
        reservation = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            reservation.bind(_RESERVED.format(uid))
        except OSError as error:
            reservation.close()
            if error.errno != errno.EADDRINUSE:
                raise
            continue
        return User(uid, first, find_device_groups(), reservation=reservation)
    raise NoUser(f"programs use all user ids from {first + 1} to {last} already")


def find_container_ids(setting: Sequence[object]) -> int:
    """Returns the first of the range's last CONTAINER_IDS ids, which no program gets; 0 if there
    are too few.
    """
    if len(setting) != 2:  # it is one user
        return 0
    first, last = (int(str(number)) for number in setting)
    start = last + 1 - CONTAINER_IDS
    return start if start - first >= CONTAINER_IDS else 0


def find_device_groups() -> list[int]:
    """Returns the groups that may use the GPUs' device files, as far as not everybody may."""
    found = set()
    for path in _find_devices():
        try:
            status = os.stat(path)
        except OSError:  # nobody can open it
            continue
        if status.st_gid and status.st_mode & _OTHERS_READ_AND_WRITE != _OTHERS_READ_AND_WRITE:
            found.add(status.st_gid)
    return sorted(found)


def _find_devices() -> Iterator[str]:
    for directory, prefixes in ((_DEVICE_DIRECTORY, _DEVICES), (_RENDER_DIRECTORY, ("renderD",))):
        try:
            names = os.listdir(directory)
        except OSError:  # there are none to open
            continue
        yield from (os.path.join(directory, name) for name in names if name.startswith(prefixes))


def become(user: User) -> None:
    """Makes this process run as the user, for good. Raises OSError."""
    # In this order: only root may drop capabilities from its bounding set and choose groups, so the
    # user changes last.
    syscalls.forgo_new_privileges()
    os.setgroups(user.groups)
    os.setresgid(user.gid, user.gid, user.gid)
    os.setresuid(user.uid, user.uid, user.uid)


class EffectiveUser:
    """Context manager: this process has the user's ids in the block, and its children can't change
    them back.

    Only the saved ids stay root's, with which this process returns. It can't gain privileges.
    """

    __slots__ = ("_user",)

    def __init__(self, user: User) -> None:
        self._user = user

    def __enter__(self) -> None:
        syscalls.forgo_new_privileges()
        os.setgroups(self._user.groups)
        os.setresgid(self._user.gid, self._user.gid, 0)
        os.setresuid(self._user.uid, self._user.uid, 0)

    def __exit__(self, *_: object) -> None:
        # The other way round: root first, for its right to change the groups.
        os.setresuid(0, 0, 0)
        os.setresgid(0, 0, 0)
        os.setgroups([])
