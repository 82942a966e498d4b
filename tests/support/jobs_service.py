"""The service behind the faces, from memory. It runs nothing: tests say what becomes of a job."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from footplate.control.jobs import Jobs
from footplate.domain.errors import FailedPrecondition, InvalidArgument
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Job
from footplate.domain.lifecycle import CancelRequested, react
from footplate.domain.names import (
    JobUid,
    trial_run_name,
)
from footplate.domain.tuning.resumption import search_of
from tests.support.jobs import CREATED, make_job
from tests.support.store import MemoryStore
from tests.support.trials import MemoryTrials

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from footplate.domain.admission import Explanation
    from footplate.domain.jobs import JobSpec
    from footplate.domain.names import JobName
    from footplate.domain.submission import Submission

_FIRST_ID = 1_000_000_000_000_000_000


class TickingClock:
    """A clock that goes on by a second whenever it is looked at."""

    def __init__(self, start: datetime = CREATED) -> None:
        self._lock = threading.Lock()
        self._time = start

    def now(self) -> datetime:
        with self._lock:
            self._time += timedelta(seconds=1)
            return self._time


class CountingIds:
    """Of one job after the other: its uid, and then its number."""

    def __init__(self) -> None:
        self._made = 0

    def uid(self) -> JobUid:
        self._made += 1
        return JobUid(f"{self._made:032d}")

    def number(self) -> int:
        return _FIRST_ID + self._made


class MemoryJobs(Jobs):
    """What only reads or changes records is the service's own. ``submissions`` is all that came in.

    ``waiting`` is why queued jobs wait; ``kept_trials`` are those of tuning jobs; ``on_submit`` is
    called with each job that was made.
    """

    def __init__(self, store: MemoryStore | None = None) -> None:
        self.clock = TickingClock()
        self.submissions: list[Submission] = []
        self.waiting: Explanation | None = None
        self.on_engine: dict[str, str] = {}
        self.kept_trials = MemoryTrials()
        self.on_submit: Callable[[Job], object] = lambda _: None
        self.store = store or MemoryStore()
        self._lock = threading.Lock()
        self.ids = CountingIds()

    def submit(self, submission: Submission, author: str = "") -> Job:
        if submission.violations:
            raise InvalidArgument.of(submission.violations)
        with self._lock:
            now = self.clock.now()
            job = Job(
                uid=self.ids.uid(),
                name=self._name(submission),
                display_name=submission.display_name,
                spec=self._spec(submission),
                request=submission.request,
                create_time=now,
                update_time=now,
                labels=submission.labels,
                author=author,
            )
            self.store.create(job, ())
            self.submissions.append(submission)
        self.on_submit(job)
        return job

    def _spec(self, submission: Submission) -> JobSpec:
        asked = submission.search
        if asked is None:
            return replace(submission.spec, pipeline=submission.pipeline)
        earlier = None if asked.resumes is None else self.store.get(asked.resumes).spec.search
        search = search_of(asked, earlier)
        return replace(submission.spec, search=search, pipeline=submission.pipeline)

    def engine_jobs(self, job: Job) -> dict[str, str]:
        return self.on_engine

    def explain(self, job: Job) -> Explanation | None:
        return self.waiting if job.state is State.QUEUED else None

    def cancel(self, name: JobName, by: str = "") -> None:
        job = self.get(name)
        after = react(job, CancelRequested(self.clock.now(), by)).job
        if after is not job:
            self.store.update(after, ())

    def delete(self, name: JobName, *, backing: bool = False) -> None:
        job = self.get(name)
        if not job.state.terminal:
            raise FailedPrecondition(f"{name} is {job.state.value}; cancel it first")
        self.store.delete(name, job.version)

    def add(self, job: Job) -> Job:
        """Let there be a job that nobody submitted: the run of a trial."""
        self.store.create(job, ())
        return job

    def run(self, name: JobName) -> Job:
        """Let a job be running."""
        return self._put(replace(self.get(name), state=State.RUNNING, start_time=self.clock.now()))

    def end(self, name: JobName, ending: Ending) -> Job:
        """Let a job be over."""
        job, now = self.get(name), self.clock.now()
        job = replace(job, state=ending.state, ending=ending, end_time=now, update_time=now)
        return self._put(replace(job, start_time=job.start_time or now))

    def start_trial(self, name: JobName, number: int, state: State = State.QUEUED) -> Job:
        """Let there be a job that runs a trial."""
        job = self.get(name)
        run = make_job(trial_run_name(name, number), spec=replace(job.spec, search=None))
        run = replace(run, tuning_job=job.uid, state=state)
        self.store.create(run, ())
        runs = self.kept_trials.running.setdefault(job.uid, {})
        runs[number] = run
        return run

    def _put(self, job: Job) -> Job:
        job = replace(job, version=job.version + 1)
        self.store.update(job, ())
        return job
