"""Starts and stops the leader's services as leadership changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate.control.tokens import Bearer
    from footplate.domain.names import JobUid
    from footplate.ports.leases import Lease
    from footplate.server.data_dir import DataDir
    from footplate.server.leader_services import LeaderServices
    from footplate.wire.replica_v1 import Record


class LeadershipServices:
    """``begin`` and ``end`` take turns, on one thread; everything else is for any, at any time.

    While no term lasts news is for nobody here: the next one begins with what is stored then.
    """

    def __init__(
        self,
        make: Callable[[Lease], LeaderServices],
        data_dir: DataDir,
        dismiss: Callable[[], None],
    ) -> None:
        """``dismiss`` sends supervisors that talk to this server to look for the next leader."""
        self._make = make
        self._data_dir = data_dir
        self._dismiss = dismiss
        self._leader_services: LeaderServices | None = None

    def begin(self, lease: Lease) -> None:
        """Whatever it raises, no term lasts then."""
        leader_services = self._make(lease)
        self._leader_services = leader_services
        try:
            leader_services.start()
            self._data_dir.announce(lease.url)
        except BaseException:
            self._leader_services = None
            leader_services.close()
            raise

    def end(self) -> None:
        leader_services, self._leader_services = self._leader_services, None
        self._data_dir.withdraw()
        self._dismiss()
        if leader_services is not None:
            leader_services.close()

    def wake(self) -> None:
        """There is something to do with jobs."""
        if (leader_services := self._leader_services) is not None:
            leader_services.wake()

    def changed(self, uid: JobUid) -> None:
        """Something was written to a job, or measured of it."""
        if (leader_services := self._leader_services) is not None:
            leader_services.changed(uid)

    def begin_search(self, uid: JobUid) -> None:
        """There is a new tuning job or pipeline."""
        if (leader_services := self._leader_services) is not None:
            leader_services.begin_search(uid)

    def wake_exports(self) -> None:
        """There may be files of models to copy."""
        if (leader_services := self._leader_services) is not None:
            leader_services.wake_exports()

    def receive(self, bearer: Bearer, records: Sequence[Record]) -> None:
        """A supervisor has reported."""
        if (leader_services := self._leader_services) is not None:
            leader_services.hangs.receive(bearer, records)

    def refresh(self) -> None:
        """Anything may have been written unheard."""
        if (leader_services := self._leader_services) is not None:
            leader_services.refresh()
