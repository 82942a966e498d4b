"""Passes file descriptors between processes over a socket."""

from __future__ import annotations

import array
import socket

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Sequence


def send(channel: socket.socket, data: bytes, descriptors: Sequence[int]) -> None:
    """Raises OSError. ``data`` isn't empty, and short enough to go at once."""
    rights = array.array("i", descriptors)
    channel.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, rights)])


def receive(channel: socket.socket, size: int, most: int) -> tuple[bytes, list[int]]:
    """Receives up to ``size`` bytes, and ``most`` descriptors, which no program inherits.

    No bytes: there is nobody any more who could send them.
    """
    numbers = array.array("i")
    room = socket.CMSG_SPACE(most * numbers.itemsize)
    try:
        data, extra, _, _ = channel.recvmsg(size, room, socket.MSG_CMSG_CLOEXEC)
    except ConnectionResetError:
        return b"", []
    for level, kind, rights in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            numbers.frombytes(rights[: len(rights) - len(rights) % numbers.itemsize])
    return data, list(numbers)
