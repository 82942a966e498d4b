"""What both faces tell of jobs, of tuning jobs by what their trials do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.web_access import web_access_uris
from footplate.domain.studies.curves import measurements

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.api.jobs_service import JobsService
    from footplate.api.json_route import Call
    from footplate.api.trials_service import TrialsService
    from footplate.api.web_access import ShellPaths
    from footplate.domain.admission import Explanation
    from footplate.domain.jobs import Job
    from footplate.domain.studies.metrics import Measurement
    from footplate.domain.studies.records import TrialRecord


class TuningJobs:
    def __init__(self, jobs: JobsService, trials: TrialsService, shells: ShellPaths) -> None:
        self._jobs = jobs
        self._trials = trials
        self._shells = shells

    def explain(self, job: Job) -> Explanation | None:
        """Why a job waits; why the first trial that waits does, of a tuning job."""
        if job.spec.search is None:
            return self._jobs.explain(job)
        if job.state.terminal:
            return None
        runs = self.runs(job)
        told = (self._jobs.explain(runs[number]) for number in sorted(runs))
        return next((explanation for explanation in told if explanation is not None), None)

    def runs(self, job: Job) -> Mapping[int, Job]:
        """The jobs that run trials now, by the numbers of these."""
        return {} if job.state.terminal else self._trials.runs(job)

    def trials(self, job: Job) -> tuple[TrialRecord, ...]:
        return self._trials.trials(job.uid)

    def measurements(self, job: Job, trial: TrialRecord) -> tuple[Measurement, ...]:
        """What it is judged by."""
        if job.spec.search is None or trial.start_time is None:
            return ()
        reports = (stored.report for stored in self._trials.reports(job.uid, trial.number))
        return measurements(reports, job.spec.search.study.metrics)

    def shells(self, call: Call, job: Job | None) -> dict[str, str]:
        """The addresses of a job's shells as this caller reaches them, by replica."""
        return {} if job is None else web_access_uris(call, self._shells(job))
