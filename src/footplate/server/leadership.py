"""Starts and stops the leader's services as leadership changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from footplate.control.tokens import Bearer
from footplate.domain.jobs import Job
from footplate.domain.names import JobUid
from footplate.domain.replica_records import Record
from footplate.ports.leases import Lease
from footplate.server.data_dir import DataDir
from footplate.server.leader_services import LeaderServices


class CurrentLeader:
    """Forwards notifications to the services of the leader, on any thread.

    While this server doesn't lead, it drops them; new services begin with the stored state.
    """

    def __init__(self) -> None:
        self.services: LeaderServices | None = None

    @property
    def leads(self) -> bool:
        return (services := self.services) is not None and services.leads()

    def wake(self) -> None:
        """Wakes the loop, as jobs may need work."""
        if (services := self.services) is not None:
            services.wake()

    def changed(self, uid: JobUid, job: Job | None = None) -> None:
        """Notifies the services that a job was written to, or has new measurements."""
        if (services := self.services) is not None:
            services.changed(uid, job)

    def begin_search(self, uid: JobUid) -> None:
        """Starts handling a new tuning job or pipeline."""
        if (services := self.services) is not None:
            services.begin_search(uid)

    def wake_exports(self) -> None:
        """Wakes the exports, as there may be models or datasets to export."""
        if (services := self.services) is not None:
            services.wake_exports()

    def wake_resources(self) -> None:
        """Wakes the steps of persistent resources, as some may have to be rebooted or deleted."""
        if (services := self.services) is not None:
            services.wake_resources()

    def receive(self, bearer: Bearer, records: Sequence[Record]) -> None:
        """Forwards a supervisor's records."""
        if (services := self.services) is not None:
            services.hangs.receive(bearer, records)

    def refresh(self) -> None:
        """Makes the services check all jobs, since a notification may have been missed."""
        if (services := self.services) is not None:
            services.refresh()


class LeadershipServices:
    """Starts and ends the leader's services. ``begin`` and ``end`` alternate, on one thread."""

    def __init__(
        self,
        leader: CurrentLeader,
        make: Callable[[Lease, Callable[[], bool]], LeaderServices],
        data_dir: DataDir,
        dismiss: Callable[[], None],
    ) -> None:
        """Creates the object. ``dismiss`` makes this server's supervisors look for the next
        leader.
        """
        self._leader = leader
        self._make = make
        self._data_dir = data_dir
        self._dismiss = dismiss

    def begin(self, lease: Lease, leads: Callable[[], bool]) -> None:
        """Starts the services. If this raises an error, none runs."""
        services = self._make(lease, leads)
        # Before the start: writes that come while the services load the jobs are passed on to
        # them.
        self._leader.services = services
        try:
            services.start()
            self._data_dir.announce(lease.url)
        except BaseException:
            self._leader.services = None
            services.close()
            raise

    def end(self) -> None:
        services, self._leader.services = self._leader.services, None
        # Before `dismiss`: supervisors whose long polls end look for the announcement, which must
        # not lead them back to this server. The services close last, as that waits for the passes
        # in progress.
        self._data_dir.withdraw()
        self._dismiss()
        if services is not None:
            services.close()
