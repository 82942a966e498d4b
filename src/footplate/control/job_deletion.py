"""Deletes finished jobs, with all that is kept of them."""

from __future__ import annotations

from contextlib import suppress

from footplate.control.tuning.trials import Trials
from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.domain.jobs import Job
from footplate.domain.names import JobName, backing_uid, pipeline_uid
from footplate.ports.logs import Logs
from footplate.ports.store import Store
from footplate.ports.usage import UsageHistory


class JobDeletion:
    def __init__(self, store: Store, logs: Logs, usage: UsageHistory, trials: Trials) -> None:
        self._store = store
        self._logs = logs
        self._usage = usage
        self._trials = trials

    def delete(self, name: JobName, *, backing: bool = False) -> None:
        """Deletes a finished job with its events, its log lines, its utilisation and its trials.

        ``backing``: deletes with a pipeline also the job that ran its program.

        Raises:
            FailedPrecondition: the job isn't finished, runs a trial of a tuning job, or runs the
                program of a pipeline that isn't finished.
        """
        job = self._store.get(name)
        if job.tuning_job is not None:
            raise FailedPrecondition(
                f"job {name} runs trial {job.spec.trial} of a tuning job; delete the tuning job"
            )
        if not job.state.terminal:
            raise FailedPrecondition(
                f"{name} is {job.state.value}; cancel it, and delete it when it has ended"
            )
        self._check_pipeline(job)
        if backing and job.spec.pipeline is not None:
            with suppress(NotFound):
                # Before the pipeline: after a crash in between, the same request finds the
                # pipeline and goes on.
                self.delete(self._store.get_by_uid(backing_uid(job.uid)).name)
        # Read before the record is deleted, because the store deletes the runs with it. The files
        # come last: a crash in between leaves files without a job, which the server reports at its
        # next start, and never a job whose log is gone.
        runs = self._runs(job)
        self._store.delete(name, job.version)
        self._trials.delete(job.uid)
        self._delete_files(job, runs)

    def delete_logs(self, job: Job) -> None:
        """Deletes the log lines and the utilisation of a finished job, but not the job."""
        self._delete_files(job, self._runs(job))

    def _delete_files(self, job: Job, runs: tuple[Job, ...]) -> None:
        self._logs.delete(job.uid)
        for each in (job, *runs):
            self._usage.delete(each.uid)

    def _runs(self, job: Job) -> tuple[Job, ...]:
        return tuple(self._store.runs(job.uid)) if job.spec.search is not None else ()

    def _check_pipeline(self, job: Job) -> None:
        """Checks that the job's pipeline has ended, as it needs the job's ending until then.

        Raises FailedPrecondition.
        """
        uid = pipeline_uid(job.uid)
        try:
            pipeline = None if uid is None else self._store.get_by_uid(uid)
        except NotFound:
            return
        if pipeline is not None and not pipeline.state.terminal:
            raise FailedPrecondition(
                f"job {job.name} runs the program of training pipeline {pipeline.name}, which is "
                f"{pipeline.state.value}; delete the job when the pipeline has ended"
            )
