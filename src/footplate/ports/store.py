"""The store port: jobs and their events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from footplate.domain.job_states import State

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

    from footplate.domain.daily_hours import RunningTimes
    from footplate.domain.filters import Filter
    from footplate.domain.job_order import JobOrder
    from footplate.domain.jobs import Job, JobEvent
    from footplate.domain.names import JobName, JobUid

ACTIVE = frozenset(state for state in State if not state.terminal)


@dataclass(frozen=True)
class Page:
    """Jobs, newest first; ``next_key`` continues after the last one, None at the end.

    ``previous_key`` leads to the newer jobs before the first one; None at the beginning.
    """

    jobs: tuple[Job, ...]
    next_key: str | None
    previous_key: str | None = None


@dataclass(frozen=True)
class StoredEvent:
    """An event with its number within the job, from 1, without gaps."""

    number: int
    event: JobEvent


class Store(Protocol):
    """The store of jobs. Every method is one transaction: it happens whole or not at all.

    All may raise Unavailable when the database can't be reached or its disk is full.
    """

    def create(self, job: Job, events: Sequence[JobEvent]) -> None:
        """Keeps a new job with its first events.

        Raises:
            AlreadyExists: a job with this name is there; nothing was changed.
            NotFound: there is no tuning job that it could be a run of (``Job.tuning_job``).
            InvalidArgument: a text (name, display name, label, request) can't be kept.
        """
        ...

    def get(self, name: JobName) -> Job:
        """Raises NotFound, naming the job."""
        ...

    def get_by_uid(self, uid: JobUid) -> Job:
        """Raises NotFound."""
        ...

    def update(self, job: Job, events: Sequence[JobEvent]) -> None:
        """Writes ``job`` and appends ``events``, if the stored version is ``job.version - 1``.

        An event whose key the job already has is left out.

        Raises:
            Aborted: the stored version is another; nothing was changed.
            NotFound: there is no such job.
        """
        ...

    def append(self, uid: JobUid, events: Sequence[JobEvent]) -> None:
        """Appends events without touching the job. Raises NotFound."""
        ...

    def delete(self, name: JobName, version: int) -> None:
        """Removes a job and its events. Raises NotFound, or Aborted as update does.

        Of a tuning job its study and all its runs are removed with it, with their events.
        """
        ...

    def list(self, collection: str, *, where: Filter | None, limit: int, after: str | None) -> Page:
        """Jobs of one collection (``JobName.collection``), newest first; runs are in none.

        ``after`` is a ``next_key`` of an earlier page. Jobs created meanwhile don't shift pages.

        Raises:
            InvalidArgument: ``after`` is no such key, or ``where`` compares what it can't.
        """
        ...

    def collections(self) -> tuple[str, ...]:
        """Returns the collections that have jobs, in alphabetical order; trials' are in none."""
        ...

    def list_several(
        self,
        lists: Mapping[str, Filter | None],
        *,
        limit: int,
        after: str | None = None,
        before: str | None = None,
        once: bool = False,
    ) -> Page:
        """Lists as ``list`` does several collections together, each with a filter of its own.

        ``before`` is a ``previous_key``: the page has the jobs next to it that are newer, and
        fewer than ``limit`` at the beginning of the list. With ``once`` a pipeline that is in one
        of the lists stands for the job that runs its program.
        """
        ...

    def list_in_order(
        self,
        lists: Mapping[str, Filter | None],
        order: JobOrder,
        *,
        limit: int,
        after: str | None = None,
        once: bool = False,
    ) -> Page:
        """Returns a page of the jobs of several collections together, in this order.

        Raises InvalidArgument as ``list_several``. ``previous_key`` is always None.
        """
        ...

    def active(self, states: Collection[State] = ACTIVE) -> tuple[Job, ...]:
        """Returns all jobs in one of these states, oldest first.

        A job whose record is damaged is left out, and logged: one must not stop all others.
        """
        ...

    def runs(self, uid: JobUid) -> tuple[Job, ...]:
        """Returns the jobs that run trials of a tuning job, in all states, oldest first.

        Of those made in the same microsecond the shorter name comes first: ``job-9``, ``job-10``.
        Unknown: none. Raises DataLoss for a damaged record: its trial would look unstarted.
        """
        ...

    def writing_to(self, directory: str) -> tuple[Job, ...]:
        """Returns the jobs of lists whose output directory is this one, in all states, newest
        first; of very many the newest thousand.

        ``directory`` as ``output_directory`` returns it.
        """
        ...

    def counts(self, *, runs: bool = False) -> dict[State, int]:
        """Returns how many jobs of lists there are in each state that isn't terminal; or, with
        ``runs``, how many that run trials. States of none are left out.
        """
        ...

    def running_times(self, begin: datetime, end: datetime) -> tuple[RunningTimes, ...]:
        """Returns how long jobs ran between two times, runs of trials included, those that other
        jobs run for not. ``end`` is now or before: a job that still runs counts until then.
        """
        ...

    def events(self, uid: JobUid, after: int = 0, limit: int = 1000) -> tuple[StoredEvent, ...]:
        """Events numbered above ``after``, in order."""
        ...

    def close(self) -> None: ...
