"""The store port: jobs and their events."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from footplate.domain.daily_hours import RunningTimes
from footplate.domain.filters import Filter
from footplate.domain.job_order import JobOrder
from footplate.domain.job_states import State
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.names import JobName, JobUid

ACTIVE = frozenset(state for state in State if not state.terminal)


@dataclass(frozen=True)
class Page:
    """Jobs, newest first; ``next_key`` continues the list, None at the end.

    ``previous_key`` leads to the newer jobs before this page; None at the beginning.
    """

    jobs: tuple[Job, ...]
    next_key: str | None
    previous_key: str | None = None


@dataclass(frozen=True)
class StoredEvent:
    """An event with its number within the job; numbers begin with 1 and have no gaps."""

    number: int
    event: JobEvent


class Store(Protocol):
    """The store of jobs; every method is one transaction, which succeeds or has no effect.

    All may raise Unavailable if the database can't be reached or its disk is full.
    """

    def create(self, job: Job, events: Sequence[JobEvent]) -> None:
        """Stores a new job with its first events.

        Raises:
            AlreadyExists: a job has this name; nothing was changed.
            NotFound: the tuning job whose run it would be (``Job.tuning_job``) doesn't exist.
            InvalidArgument: a text (name, display name, label, request) can't be stored.
        """
        ...

    def get(self, name: JobName) -> Job:
        """Returns the job of this name. Raises NotFound, which names the job."""
        ...

    def get_by_uid(self, uid: JobUid) -> Job:
        """Returns the job with this uid. Raises NotFound."""
        ...

    def update(self, job: Job, events: Sequence[JobEvent]) -> None:
        """Writes ``job`` and appends ``events`` if the stored version is ``job.version - 1``.

        Events whose key the job already has are left out.

        Raises:
            Aborted: the stored version is another; nothing was changed.
            NotFound: the job doesn't exist.
        """
        ...

    def append(self, uid: JobUid, events: Sequence[JobEvent]) -> None:
        """Appends events without changing the job. Raises NotFound."""
        ...

    def delete(self, name: JobName, version: int) -> None:
        """Deletes a job and its events. Raises NotFound, or Aborted as ``update`` does.

        With a tuning job its study and all its runs are deleted, with their events.
        """
        ...

    def list(self, collection: str, *, where: Filter | None, limit: int, after: str | None) -> Page:
        """Lists one collection (``JobName.collection``), newest first, without runs of trials.

        ``after`` is a ``next_key`` of an earlier page. Jobs created meanwhile don't shift pages.

        Raises:
            InvalidArgument: ``after`` is not such a key, or ``where`` has an impossible comparison.
        """
        ...

    def collections(self) -> tuple[str, ...]:
        """Returns the collections that have jobs, in alphabetical order; runs don't count."""
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
        """Lists several collections together, like ``list``, each with its own filter.

        ``before`` is a ``previous_key``: the page then has the next newer jobs, and fewer than
        ``limit`` at the beginning of the list. With ``once`` a job that runs a pipeline's program
        is left out if the pipeline is in one of the lists.
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
        """Returns a page of the jobs of several collections together, in the given order.

        Raises InvalidArgument, as ``list_several`` does. ``previous_key`` is always None.
        """
        ...

    def active(self, states: Collection[State] = ACTIVE) -> tuple[Job, ...]:
        """Returns all jobs in one of these states, oldest first.

        Jobs with damaged records are logged and left out: one must not stop all others.
        """
        ...

    def runs(self, uid: JobUid) -> tuple[Job, ...]:
        """Returns the jobs that run trials of a tuning job, in all states, oldest first.

        Of jobs created in the same microsecond the shorter name comes first: ``job-9``, ``job-10``.
        An unknown job has none. Raises DataLoss for a damaged record: without the exception its
        trial would look unstarted.
        """
        ...

    def writing_to(self, directory: str) -> tuple[Job, ...]:
        """Returns jobs, without runs of trials, with this output directory, newest first.

        All states are included; of very many the newest thousand are returned. ``directory`` has
        the form that ``output_directory`` returns.
        """
        ...

    def counts(self, *, runs: bool = False) -> dict[State, int]:
        """Returns the number of jobs, without runs of trials, in each state that isn't terminal.

        ``runs`` counts the runs of trials instead. States without jobs are left out.
        """
        ...

    def running_times(self, begin: datetime, end: datetime) -> tuple[RunningTimes, ...]:
        """Returns how long jobs ran between two times.

        Runs of trials are included; tuning jobs and pipelines themselves are not. ``end`` must not
        be in the future: a job that still runs counts until then.
        """
        ...

    def events(self, uid: JobUid, after: int = 0, limit: int = 1000) -> tuple[StoredEvent, ...]:
        """Returns the events with numbers above ``after``, in order."""
        ...

    def close(self) -> None: ...
