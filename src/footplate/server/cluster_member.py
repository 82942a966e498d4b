"""This server as a member of a cluster: registered, listening, leading or not."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from footplate.control.control_loop import Loop
from footplate.control.leadership import Leadership
from footplate.ports.leases import Lease
from footplate.ports.notifications import Notice, NoticeKind
from footplate.ports.servers import Member
from footplate.replica.isolation.procfs import is_there

if TYPE_CHECKING:
    from footplate.server.context import ServiceContext


class ClusterMember:
    """This server's membership in the service and its leadership.

    ``close`` must be called once, even without a ``start``.
    """

    def __init__(
        self,
        context: ServiceContext,
        begin: Callable[[Lease, Callable[[], bool]], None],
        end: Callable[[], None],
    ) -> None:
        """Creates the membership.

        ``begin`` and ``end`` are called when this server begins and ceases to lead.
        """
        self._member = context.member
        self._data_dir = context.data_dir
        self._membership = context.membership
        self._notifications = context.notifications
        database = context.database
        self._leadership = Leadership(
            database.leases(),
            context.member.id,
            context.url,
            context.settings.lease_s,
            time.monotonic,
            begin,
            end,
            self._announce,
        )
        self._leading = Loop(self._leadership.step, "leadership")
        self._listener = database.listen(self._receive, context.notifications.miss)
        self._loops: list[Loop] = []

    @property
    def leads(self) -> bool:
        return self._leadership.leads

    @property
    def leader_url(self) -> str | None:
        """Returns the URL of the leading server, as far as is known; None: no server leads."""
        return self._leadership.leader_url

    def members(self) -> tuple[Member, ...]:
        """Returns the servers that share the database now, all of them on this machine."""
        return tuple(each for each in self._membership.living() if is_there(each.pid))

    def start(self) -> None:
        """Leads if no other server does, and listens to notifications."""
        self._leadership.step()  # here: where nobody else leads, this server does from now on
        self._data_dir.enlist(self._member.id, self._member.url)
        self._loops = [self._leading]
        if self._listener is not None:
            self._listener.start()
            self._loops.append(Loop(self._membership.step, "membership"))
        for loop in self._loops:
            loop.start()

    def close(self) -> None:
        """Leaves the service, so that another server may lead at once."""
        for loop in self._loops:
            loop.close()
        # After the loops: only one thread may use the leadership.
        self._leadership.close()
        if self._listener is not None:
            self._listener.close()
        self._data_dir.remove_server(self._member.id)
        self._membership.leave()

    def _announce(self) -> None:
        """Announces this server again, if a former leader has announced itself meanwhile."""
        found = self._data_dir.announcement()
        if found is None or found.pid != self._member.pid:
            self._data_dir.announce(self._member.url)

    def _receive(self, notice: Notice) -> None:
        if notice.kind is NoticeKind.LEASE:
            self._leading.wake()
        else:
            self._notifications.receive(notice)
