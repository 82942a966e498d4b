"""Jobs as clients see them: submit, get, list, cancel, delete."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Protocol

from footplate.control.job_deletion import JobDeletion
from footplate.control.job_queue import Queue
from footplate.control.job_updates import apply
from footplate.control.submission_checks import SubmissionChecks
from footplate.control.tuning.trials import Trials
from footplate.domain.admission import Explanation
from footplate.domain.engine_events import engine_jobs
from footplate.domain.errors import Aborted, NotFound
from footplate.domain.filters import Filter
from footplate.domain.job_order import JobOrder
from footplate.domain.job_states import State
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.lifecycle import CancelRequested
from footplate.domain.names import (
    CustomJobName,
    JobName,
    JobUid,
    TrainingJobName,
    TrainingPipelineName,
    TuningJobName,
    backing_uid,
)
from footplate.domain.pipelines import WRITES_DATA
from footplate.domain.preparation_status import explain_preparing
from footplate.domain.submission import Submission
from footplate.ports.clock import Clock
from footplate.ports.logs import Logs
from footplate.ports.store import Page, Store
from footplate.ports.usage import UsageHistory


class Ids(Protocol):
    """The source of new ids; an argument, so that tests can replace its randomness."""

    def uid(self) -> JobUid:
        """Returns a uid of letters and digits that is never repeated."""
        ...

    def number(self) -> int:
        """Returns a new id for clients that expect a number; it is never repeated."""
        ...


@dataclass(eq=False)
class Jobs:
    """The jobs as clients see them.

    ``wake`` is called after every change to which the control loop may have to react, ``begin``
    with each new tuning job. ``check_room`` raises Unavailable if the disk is full, ``has_engine``
    returns whether a region runs its jobs on an engine.
    """

    store: Store
    logs: Logs
    usage: UsageHistory
    submission_checks: SubmissionChecks
    queue: Queue
    trials: Trials
    clock: Clock
    ids: Ids
    wake: Callable[[], None]
    begin: Callable[[JobUid], None] = lambda _: None
    check_room: Callable[[], None] = lambda: None
    has_engine: Callable[[str], bool] = lambda _: False

    def submit(self, submission: Submission, author: str = "") -> Job:
        """Checks and stores a new job of ``author``, which starts when there is capacity.

        Raises:
            InvalidArgument: has all faults of the request; nothing was created.
            FailedPrecondition, ResourceExhausted: as ``SubmissionChecks.refusal`` says.
            AlreadyExists: the project has a job of this name; nothing was changed.
            Unavailable: the disk is full.
        """
        refusal = self.submission_checks.refusal(submission)
        if refusal is not None:
            raise refusal
        self.check_room()
        now = self.clock.now()
        job = Job(
            uid=self.ids.uid(),
            name=self._name(submission),
            display_name=submission.display_name,
            spec=self.submission_checks.spec(submission),
            request=submission.request,
            create_time=now,
            update_time=now,
            labels=submission.labels,
            author=author,
        )
        self.store.create(job, _first_events(self.submission_checks.remarks(submission), now))
        if not job.spec.runs_itself:
            self.begin(job.uid)
        self.wake()
        return job

    def _name(self, submission: Submission) -> JobName:
        name = submission.name
        if isinstance(name, TrainingJobName):
            return name
        made: Callable[[str, str, str], JobName] = CustomJobName
        if submission.pipeline is not None:
            made = TrainingPipelineName
        elif submission.search is not None:
            made = TuningJobName
        return made(name.project, name.location, str(self.ids.number()))

    def get(self, name: JobName) -> Job:
        """Returns the job of this name. Raises NotFound."""
        return self.store.get(name)

    def explain(self, job: Job) -> Explanation | None:
        """Explains why the job waits, or how its preparation proceeds; None if it does neither.

        For a tuning job that hasn't begun this is what its first trial waits for; for a pipeline,
        what its job waits for.
        """
        if job.spec.pipeline is not None:
            return self._explain_backing(job)
        if job.state is State.PREPARING and job.spec.search is None:
            events = (stored.event for stored in self.store.events(job.uid))
            return explain_preparing(job, events, self.clock.now())
        if job.spec.search is None or job.state is not State.QUEUED:
            return self.queue.explain(job)
        runs = self.trials.runs(job)
        return self.queue.explain(runs[min(runs)]) if runs else None

    def engine_jobs(self, job: Job) -> Mapping[str, str]:
        """Returns the engine's job for each replica of an unfinished job on an engine."""
        if not self.has_engine(job.spec.region) or job.state.terminal or not job.attempt:
            return {}
        return engine_jobs((stored.event for stored in self.store.events(job.uid)), job.attempt)

    def _explain_backing(self, pipeline: Job) -> Explanation | None:
        if pipeline.state.terminal:
            return None
        try:
            return self.explain(self.store.get_by_uid(backing_uid(pipeline.uid)))
        except NotFound:
            told = [stored.event for stored in self.store.events(pipeline.uid)]
        writing = [event for event in told if event.kind == WRITES_DATA]
        if not writing:
            return None
        for_s = max(0, round((self.clock.now() - writing[0].time).total_seconds()))
        text = f"Being prepared for {for_s} s: {writing[0].message}."
        return Explanation(0, WRITES_DATA, text)

    def list(
        self,
        collection: str,
        *,
        where: Filter | None,
        limit: int,
        after: str | None,
        order: JobOrder = (),
    ) -> Page:
        """Lists jobs of a collection. Raises InvalidArgument: ``after`` is no valid token."""
        if order:
            asked = {collection: where}
            return self.store.list_in_order(asked, order, limit=limit, after=after)
        return self.store.list(collection, where=where, limit=limit, after=after)

    def cancel(self, name: JobName, by: str = "") -> None:
        """Requests the job's end; a finished job stays as it is. Raises NotFound.

        ``by`` is who requests it, for the job's message.
        """
        job = self.store.get(name)
        apply(self.store, job.uid, CancelRequested(self.clock.now(), by))
        self.wake()

    def delete(self, name: JobName, *, backing: bool = False) -> None:
        """Deletes a finished job; see JobDeletion.delete."""
        JobDeletion(self.store, self.logs, self.usage, self.trials).delete(name, backing=backing)

    def set_labels(
        self, name: JobName, labels: tuple[tuple[str, str], ...], version: int | None
    ) -> Job:
        """Replaces the labels; if ``version`` is given, only if the job still has this version.

        Raises:
            Aborted: the job has another version.
            NotFound: the job doesn't exist.
        """
        return self._change(name, version, lambda job: replace(job, labels=labels))

    def annotate(
        self, name: JobName, labels: tuple[tuple[str, str], ...] | None, note: str | None
    ) -> Job:
        """Replaces the labels and the note, except those that are None."""

        def change(job: Job) -> Job:
            return replace(
                job,
                labels=job.labels if labels is None else labels,
                note=job.note if note is None else note,
            )

        return self._change(name, None, change)

    def _change(self, name: JobName, version: int | None, change: Callable[[Job], Job]) -> Job:
        while True:
            job = self.store.get(name)
            if version is not None and job.version != version:
                raise Aborted(
                    f"{name} has changed since you read it (its etag differs); read it again"
                )
            now = self.clock.now()
            changed = replace(change(job), update_time=now, version=job.version + 1)
            try:
                self.store.update(changed, ())
            except Aborted:
                continue
            return changed


def _first_events(remarks: tuple[str, ...], now: datetime) -> tuple[JobEvent, ...]:
    return (JobEvent(now, "QUEUED", ""), *(JobEvent(now, "WARNING", text) for text in remarks))
