"""Copies a job's explanatory events into its log."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from footplate.domain.errors import NotFound, ServiceError
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import JobUid
from footplate.domain.service_log_lines import SERVICE, service_line
from footplate.ports.logs import Logs
from footplate.ports.store import Store

_LOG = logging.getLogger(__name__)
_PAGE = 1000
_ATTEMPT = 0
"""Replicas write in attempts from 1 on."""


class ServiceLog:
    """Copies events to the log, each as at most one line.

    A line's sequence is the event's number, and the log ignores a sequence that it has. If a crash
    separates the write of an event from that of its line, the next call for the same job adds the
    line.
    """

    def __init__(self, store: Store, logs: Logs) -> None:
        self._store = store
        self._logs = logs

    def follow(self, uid: JobUid, events: Sequence[JobEvent], job: Job | None = None) -> None:
        """Copies stored events of a job to its log, if the log shows any of ``events``.

        ``job`` is the job, if the caller has it. A log that can't be written now is no error,
        because the events are stored.
        """
        if not any(service_line(1, event) for event in events):
            return
        try:
            self.copy(self._store.get_by_uid(uid) if job is None else job)
        except NotFound:  # deleted since
            return
        except ServiceError as error:
            _LOG.warning(
                "the server can't write events of job %s into its log yet: %s", uid, error.message
            )

    def copy(self, job: Job) -> None:
        """Appends all events that the log lacks.

        Raises:
            Unavailable: the database or the log can't be used now.
        """
        trial = job.spec.trial or ""
        # Lines have the numbers of their events, so a copy that was interrupted goes on after its
        # last line.
        last = self._logs.tail(job.log, _ATTEMPT, SERVICE, 1, trial)
        after = last[0].line.sequence if last else 0
        while True:
            stored = self._store.events(job.uid, after, _PAGE)
            lines = [service_line(each.number, each.event) for each in stored]
            if found := [line for line in lines if line is not None]:
                self._logs.append(job.log, _ATTEMPT, SERVICE, found, trial)
            if len(stored) < _PAGE:
                return
            after = stored[-1].number
