"""This server's registration among those that share its database."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from footplate.domain.errors import FailedPrecondition, Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.ports.servers import Member, Servers
    from footplate.server.data_dir import DataDir

MISSED_LEASES = 3
"""A server counts as dead that gave no sign of life for so many lives of a lease."""
_SIGNS = 3
"""The number of signs of life in the life of a lease."""
_log = logging.getLogger(__name__)


class Membership:
    def __init__(
        self,
        servers: Servers,
        member: Member,
        data_dir: DataDir,
        lease_s: float,
        stop: Callable[[], None],
    ) -> None:
        """Creates the membership. ``stop`` is called if this server can't stay a member."""
        self._servers = servers
        self._member = member
        self._data_dir = data_dir
        self._silent_s = MISSED_LEASES * lease_s
        self._pause_s = lease_s / _SIGNS
        self._stop = stop

    def join(self) -> None:
        """Joins the database's servers. Raises FailedPrecondition with reason and remedy."""
        identity = self._data_dir.identity()
        database = self._servers.join(self._member, self._silent_s, identity.database)
        self._data_dir.settle(identity, database)

    def step(self) -> float:
        """Sends a sign of life; returns the seconds until the next one is due."""
        try:
            if not self._servers.heartbeat(self._member, self._silent_s):
                self.join()  # it slept for so long that it was taken for dead
        except Unavailable as error:
            _log.warning(
                "this server can't report to the other servers that it is running: %s",
                error.message,
            )
        except FailedPrecondition as error:
            _log.error("this server ends: %s", error.message)
            self._stop()
        return self._pause_s

    def living(self) -> tuple[Member, ...]:
        """Returns the servers that share the database, including this one."""
        return self._servers.living(self._silent_s)

    def leave(self) -> None:
        try:
            self._servers.leave(self._member.id)
        except Unavailable as error:
            _log.warning(
                "this server can't report to the other servers that it stops: %s", error.message
            )
