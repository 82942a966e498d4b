"""Bounds how many connections the server has: of all callers, and of each.

A caller is an address, or on this machine a user. Who reaches a bound loses the connection that
waited longest for a request; only where all of them work is a new one refused.
"""

from __future__ import annotations

import errno
import logging
import os
import resource
import socket
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from typing import TYPE_CHECKING, Any

from footplate.server.socket_owner import Endpoint, find_owner

if TYPE_CHECKING:
    import asyncio

_NO_DESCRIPTORS = (errno.EMFILE, errno.ENFILE)
_LEAST = 16
_AT_ONCE = 64
"""Connections that are accepted before those that ended are closed."""
_IPV6_SITE_BITS = 64
"""One customer has that many addresses at least."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Caller:
    name: str
    most: int
    """Connections at once."""


class Door:
    """Admits connections to the listening sockets that it guards; only one thread may use it.

    ``program_uids`` is the first and the last user id of programs.
    """

    def __init__(self, most: int, program_uids: tuple[int, int] | None = None) -> None:
        self.most = max(_LEAST, most)
        self._program_uids = program_uids
        self._counts: Counter[str] = Counter()
        self._idle: defaultdict[str, dict[Visitor, None]] = defaultdict(dict)
        """The idle ones by caller, who waited longest first."""
        self._spare = _open_spare()

    @classmethod
    def of_limits(cls, most: int, program_uids: tuple[int, int] | None = None) -> Door:
        """Returns a door for ``most`` connections; fewer if that leaves too few descriptors for
        files.

        A quarter of this process's descriptors are for files.
        """
        allowed, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if allowed != resource.RLIM_INFINITY:
            most = min(most, allowed * 3 // 4)
        return cls(most, program_uids)

    def guard(self, listener: socket.socket) -> socket.socket:
        """Returns a listener that replaces the given one and admits connections."""
        return _Listener(self, listener)

    def identify(self, client: Any, server: Any) -> Caller:
        """Returns the caller for the addresses of a connection's two ends."""
        address = ip_address(str(client[0]).partition("%")[0])
        if isinstance(address, IPv6Address):
            address = address.ipv4_mapped or address
        if not address.is_loopback:
            site = int(address) >> _IPV6_SITE_BITS if address.version == 6 else address
            return Caller(str(site), self.most // 2)
        with suppress(OSError, ValueError):  # then they share what all of the machine have
            owner = find_owner(Endpoint(*client[:2]), Endpoint(*server[:2]))
            if owner is not None and owner.inode:
                return self._identify_user(owner.uid)
        return Caller("loopback", self.most // 2)

    def _identify_user(self, uid: int) -> Caller:
        first, last = self._program_uids or (0, -1)
        share = self.most // 16 if first <= uid <= last else self.most // 2
        # Supervisors run as this user: each has some connections of long use.
        own = uid in (0, os.geteuid())
        return Caller(f"user {uid}", self.most * 7 // 8 if own else max(_LEAST // 2, share))

    def enter(self, visitor: Visitor) -> bool:
        """Admits the connection if there is room; returns whether it may stay."""
        caller = visitor.caller
        full = self._counts[caller.name] >= caller.most
        if full and not self._end_idle(caller.name):
            _log.warning(
                "the server refuses connections of %s, which has %d open", caller.name, caller.most
            )
            return False
        if not full and self._counts.total() >= self.most:
            greediest = self._counts.most_common(1)[0][0]
            if not self._end_idle(greediest):
                _log.warning("the server refuses new connections: %d are open", self.most)
                return False
        self._counts[caller.name] += 1
        self.mark_idle(visitor)
        return True

    def leave(self, visitor: Visitor) -> None:
        name = visitor.caller.name
        self._counts[name] -= 1
        if self._counts[name] <= 0:
            del self._counts[name]
            self._idle.pop(name, None)

    def mark_idle(self, visitor: Visitor) -> None:
        """Marks the connection as waiting for a request, from now on."""
        if visitor.fileno() >= 0:
            self._idle[visitor.caller.name][visitor] = None

    def mark_busy(self, visitor: Visitor) -> None:
        self._idle[visitor.caller.name].pop(visitor, None)

    def refuse_one(self, accept: Callable[[], tuple[socket.socket, Any]]) -> None:
        """Closes the first waiting connection when no descriptor is left, by use of a spare one.

        A connection that stays in the queue would wake the server again and again.
        """
        if self._spare >= 0:
            os.close(self._spare)
        try:
            accept()[0].close()
            _log.warning(
                "the server has no file descriptor left for another connection: raise the "
                "limit of open files (ulimit -n)"
            )
        finally:
            self._spare = _open_spare()

    def _end_idle(self, name: str) -> bool:
        """Closes the caller's connection that was idle longest; returns False if none is idle."""
        idle = self._idle[name]
        if not idle:
            return False
        visitor = next(iter(idle))
        del idle[visitor]
        with suppress(OSError):  # the client has just gone
            visitor.shutdown(socket.SHUT_RDWR)  # which its transport takes for the client's end
        return True


class Visitor(socket.socket):
    """A connection that counts until it is closed."""

    door: Door
    caller: Caller
    _inside = False

    @classmethod
    def of(cls, plain: socket.socket, door: Door, caller: Caller) -> Visitor:
        visitor = cls(plain.family, plain.type, plain.proto, plain.detach())
        visitor.door, visitor.caller = door, caller
        return visitor

    def enter(self) -> bool:
        self._inside = self.door.enter(self)
        if self._inside:
            _VISITORS[self.fileno()] = self
        return self._inside

    def close(self) -> None:
        if self._inside:
            self._inside = False
            _VISITORS.pop(self.fileno(), None)
            self.door.mark_busy(self)
            self.door.leave(self)
        super().close()


_VISITORS: dict[int, Visitor] = {}
"""The visitors by descriptor: asyncio doesn't hand sockets out."""


def find_visitor(transport: asyncio.BaseTransport) -> Visitor | None:
    """Returns the connection below a transport; None if no door admitted it."""
    connection = transport.get_extra_info("socket")
    return None if connection is None else _VISITORS.get(connection.fileno())


class _Listener(socket.socket):
    def __init__(self, door: Door, listener: socket.socket) -> None:
        super().__init__(listener.family, listener.type, listener.proto, listener.detach())
        self._door = door
        self._accepted = 0

    def accept(self) -> tuple[socket.socket, Any]:
        """Accepts a connection. Raises BlockingIOError if none waits, or open ones come first."""
        while self._accepted < _AT_ONCE:
            self._accepted += 1
            try:
                plain, address = super().accept()
            except OSError as error:
                if error.errno not in _NO_DESCRIPTORS:
                    raise
                self._refuse_one()
                continue
            caller = self._door.identify(address, plain.getsockname())
            visitor = Visitor.of(plain, self._door, caller)
            if visitor.enter():
                return visitor, address
            visitor.close()
        # asyncio takes this error for an empty queue, and accepts the rest in its next round.
        self._accepted = 0
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    def _refuse_one(self) -> None:
        try:
            self._door.refuse_one(super().accept)
        except OSError as error:  # asked again when the next connection arrives
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN)) from error


def _open_spare() -> int:
    """Returns a spare descriptor, to release when there are no others; -1 if none is free now."""
    with suppress(OSError):  # then connections wait until one is closed
        return os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
    return -1
