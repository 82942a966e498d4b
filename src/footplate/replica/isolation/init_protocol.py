"""The message that configures an init once its program is known.

In marshal's form, in which nothing runs code of Python's: both ends are the same interpreter.
"""

from __future__ import annotations

import marshal

from footplate.replica.isolation import fd_passing
from footplate.replica.isolation.spawn import Launch
from footplate.replica.isolation.users import User

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    import socket
    from typing import Any, Sequence

    from footplate.replica.isolation.mount_namespace import MountNamespace

_SIZE_BYTES = 8
_MOST_DESCRIPTORS = 64


class InitConfig:
    """``inside`` are the ``cgroup.procs``, opened, of groups that the program alone is in,
    ``outside`` those of the groups that init is in.
    """

    __slots__ = ("inside", "launch", "outside", "view")

    def __init__(
        self,
        launch: Launch,
        view: MountNamespace | None,
        inside: Sequence[int] = (),
        outside: Sequence[int] = (),
    ) -> None:
        self.launch = launch
        self.view = view
        self.inside = inside
        self.outside = outside

    def send(self, channel: socket.socket) -> bool:
        """Sends it; returns False if nobody is there any more."""
        launch = self.launch
        view: Any = None if self.view is None else self.view.tell()
        user = None if launch.user is None else launch.user.encode()
        id_map = [] if self.view is None or self.view.id_map < 0 else [self.view.id_map]
        words = launch.argv, launch.environment, launch.cwd, user, launch.processes, view
        message = marshal.dumps((*words, len(id_map), len(self.inside)))
        held = [launch.stdout, launch.stderr, *id_map, *self.inside, *self.outside]
        try:
            fd_passing.send(channel, len(message).to_bytes(_SIZE_BYTES, "little"), held)
            channel.sendall(message)
        except (BrokenPipeError, ConnectionResetError):
            return False
        return True

    @classmethod
    def receive(cls, channel: socket.socket) -> InitConfig:
        """Raises EOFError: there will be none."""
        from footplate.replica.isolation.mount_namespace import (
            MountNamespace,
        )  # in children only: it costs memory

        size, held = fd_passing.receive(channel, _SIZE_BYTES, _MOST_DESCRIPTORS)
        fields = marshal.loads(_read(channel, int.from_bytes(size, "little")))  # noqa: S302  our own
        argv, environment, cwd, user, processes, view, id_maps, groups = fields
        stdout, stderr, *rest = held
        owner = None if user is None else User.decode(user)
        launch = Launch(argv, environment, cwd, stdout, stderr, user=owner, processes=processes)
        seen = None if view is None else MountNamespace.of(view)
        if seen is not None and id_maps:
            seen.id_map = rest.pop(0)
        return cls(launch, seen, rest[:groups], rest[groups:])


def _read(channel: socket.socket, size: int) -> bytes:
    """Raises EOFError."""
    parts: list[bytes] = []
    while size:
        parts.append(channel.recv(size))
        size -= len(parts[-1])
        if not parts[-1]:
            break
    if size or not parts:
        raise EOFError("the supervisor has closed the connection")
    return b"".join(parts)
