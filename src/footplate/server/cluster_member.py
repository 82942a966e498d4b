"""This server as a member of a cluster: registered, listening, leading or not."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from footplate.control.control_loop import Loop
from footplate.control.leadership import Leadership
from footplate.ports.notifications import NoticeKind
from footplate.replica.isolation.procfs import is_there
from footplate.server.membership import Membership

if TYPE_CHECKING:
    from collections.abc import Callable

    from footplate.ports.leases import Lease
    from footplate.ports.notifications import Notice
    from footplate.ports.servers import Member
    from footplate.server.data_dir import DataDir
    from footplate.store import SqlStore


class ClusterMember:
    """``join`` comes first, then ``start``, then ``close``."""

    def __init__(self, store: SqlStore, member: Member, data_dir: DataDir, lease_s: float) -> None:
        self._store = store
        self._member = member
        self._data_dir = data_dir
        self._lease_s = lease_s
        self._membership = Membership(
            store.servers(), member, data_dir, lease_s, lambda: self.put_out()
        )
        self._leadership: Leadership | None = None
        self._loops: list[Loop] = []
        self._receive: Callable[[Notice], None] = lambda _: None
        self.put_out: Callable[[], None] = lambda: None
        """Called when this server can't be one of them any more."""

    @property
    def leads(self) -> bool:
        return self._leadership is not None and self._leadership.leads

    @property
    def leader_url(self) -> str | None:
        """Where the server that leads answers, as far as is known."""
        return None if self._leadership is None else self._leadership.leader_url

    def members(self) -> tuple[Member, ...]:
        """Who shares the database now. They are all on this machine."""
        return tuple(each for each in self._membership.living() if is_there(each.pid))

    def join(self) -> None:
        """Raises FailedPrecondition with the reason and what to do."""
        self._membership.join()

    def start(
        self,
        begin: Callable[[Lease], None],
        end: Callable[[], None],
        receive: Callable[[Notice], None],
        missed: Callable[[], None],
    ) -> None:
        """Lead if no other server does, and listen to notifications.

        ``begin`` and ``end`` are called when a term of leading begins and ends, ``receive`` with
        each notice, ``missed`` when some may have been.
        """
        self._leadership = Leadership(
            self._store.leases(),
            self._member.id,
            self._member.url,
            self._lease_s,
            time.monotonic,
            begin,
            end,
            self._announce,
        )
        self._leading = Loop(self._leadership.step, "leadership")
        self._receive = receive
        self._listener = self._store.listen(self._sort, missed)
        self._leadership.step()  # here: where nobody else leads, this server does from now on
        self._data_dir.enlist(self._member.id, self._member.url)
        self._loops = [self._leading]
        if self._listener is not None:
            self._listener.start()
            self._loops.append(Loop(self._membership.step, "membership"))
        for loop in self._loops:
            loop.start()

    def close(self) -> None:
        """Leave, so that another may lead at once."""
        for loop in self._loops:
            loop.close()
        if self._leadership is not None:
            self._leadership.close()
            if self._listener is not None:
                self._listener.close()
            self._data_dir.remove_server(self._member.id)
        self._membership.leave()

    def _announce(self) -> None:
        """Again, should another server that thought it led have done so since."""
        found = self._data_dir.announcement()
        if found is None or found.pid != self._member.pid:
            self._data_dir.announce(self._member.url)

    def _sort(self, notice: Notice) -> None:
        if notice.kind is NoticeKind.LEASE:
            self._leading.wake()
        else:
            self._receive(notice)
