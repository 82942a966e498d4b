"""Keeps what is written over Cloud Logging's API in the logs of jobs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from footplate.control.current_attempts import current
from footplate.control.tokens import Bearer
from footplate.domain.errors import FailedPrecondition, InvalidArgument, PermissionDenied, Violation
from footplate.domain.jobs import Job
from footplate.domain.log_lines import RESTART_SPAN, Line
from footplate.ports.logs import Logs
from footplate.ports.store import Store

REMEMBERED = 1000
"""Entries of a replica in a log among which one that comes again is known by its insertId."""


@dataclass(frozen=True)
class LogWriter:
    """The replica of a job under whose name written entries are stored."""

    job: Job
    replica: str

    @property
    def restart(self) -> int:
        return next((r.restart for r in self.job.replicas if r.name == self.replica), 0)


class WrittenEntries:
    """Writes entries; ``find_bearer`` returns a key's owner, or raises PermissionDenied."""

    def __init__(self, store: Store, logs: Logs, find_bearer: Callable[[str], Bearer]) -> None:
        self._store = store
        self._logs = logs
        self._find_bearer = find_bearer

    def program(self, key: str) -> LogWriter | None:
        """Returns the replica whose program sent ``key``; None: it isn't a program's key.

        Raises PermissionDenied: the program has ended.
        """
        try:
            bearer = self._find_bearer(key)
        except PermissionDenied:
            return None
        return LogWriter(current(self._store, bearer), bearer.replica)

    def write(self, writer: LogWriter, lines: Iterable[tuple[Line, str]]) -> None:
        """Stores lines, each with its ``insertId``, which may be empty.

        Raises:
            FailedPrecondition: the job has ended.
            Unavailable: the log can't be written now.
            InvalidArgument: the job has written to too many logs.
        """
        job = writer.job
        if job.state.terminal:
            raise FailedPrecondition(f"{job.name} has ended: its log takes no more entries")
        fresh = self._without_repeats(writer, [*lines])
        if fresh:
            above = writer.restart * RESTART_SPAN
            trial = job.spec.trial or ""
            self._logs.write(job.log, job.attempt, writer.replica, fresh, trial, above)

    def _without_repeats(self, writer: LogWriter, lines: Sequence[tuple[Line, str]]) -> list[Line]:
        """Drops lines that a client sends again because its previous call was interrupted."""
        known = {
            (log, id_)
            for log in {line.log for line, id_ in lines if id_}
            for id_ in self._insert_ids(writer, log)
        }
        fresh = []
        for line, insert_id in lines:
            if insert_id and (line.log, insert_id) in known:
                continue
            known.add((line.log, insert_id))
            fresh.append(line)
        return fresh

    def _insert_ids(self, writer: LogWriter, log: str) -> set[str]:
        job = writer.job
        trial = job.spec.trial or ""
        entries = self._logs.tail(job.log, job.attempt, writer.replica, REMEMBERED, trial, log)
        return {json.loads(e.line.extra).get("insertId", "") for e in entries if e.line.extra}


def choose_writer(job: Job, task: str) -> LogWriter:
    """Returns the replica of ``job`` that ``task`` names; the first one if it is empty.

    Raises InvalidArgument.
    """
    names = job.spec.replica_names()
    if task and task not in names:
        allowed = f"a replica of {job.name}: {', '.join(names[:10])}"
        problem = f"{task!r} given; allowed: {allowed}"
        raise InvalidArgument.of((Violation("resource.labels.task_name", problem),))
    return LogWriter(job, task or names[0])
