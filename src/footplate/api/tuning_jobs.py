"""Jobs as both APIs show them; the state of a tuning job follows from its trials."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import TYPE_CHECKING

from footplate.api.json_route import Call
from footplate.api.web_access import web_access_uris
from footplate.control.jobs import Jobs
from footplate.control.tuning.trials import Trials
from footplate.domain.admission import Explanation
from footplate.domain.jobs import Job
from footplate.domain.names import JobUid
from footplate.domain.studies.learning_curves import measurements
from footplate.domain.studies.metrics import Measurement, Metric
from footplate.domain.studies.records import TrialRecord
from footplate.wire.vertex_v1.trials import MOST_MEASUREMENTS, evenly

if TYPE_CHECKING:
    from footplate.api.web_access import ShellPaths


MOST_REMEMBERED = 2000
"""Curves of trials that have ended."""


class TuningJobs:
    def __init__(self, jobs: Jobs, trials: Trials, shells: ShellPaths) -> None:
        self._jobs = jobs
        self._trials = trials
        self._shells = shells
        self._lock = Lock()
        self._ended: OrderedDict[tuple[JobUid, int], Sequence[Measurement]] = OrderedDict()

    def explain(self, job: Job) -> Explanation | None:
        """Returns why a job waits; for a tuning job, why its first waiting trial does."""
        if job.spec.search is None:
            return self._jobs.explain(job)
        if job.state.terminal:
            return None
        for number, run in sorted(self.runs(job).items()):
            explanation = self._jobs.explain(run)
            if explanation is not None:
                return replace(explanation, text=f"Trial {number}: {explanation.text}")
        return None

    def runs(self, job: Job) -> Mapping[int, Job]:
        """Returns the jobs that run trials now, by the trials' numbers."""
        return {} if job.state.terminal else self._trials.runs(job)

    def trials(self, job: Job) -> tuple[TrialRecord, ...]:
        return self._trials.trials(job.uid)

    def measurements(self, job: Job, trial: TrialRecord) -> Sequence[Measurement]:
        """Returns the measurements by which a trial is judged; only some of a long curve.

        Those of ended trials are cached: clients request all trials every few seconds, and most
        have ended.
        """
        if job.spec.search is None or trial.start_time is None:
            return ()
        metrics = job.spec.search.study.metrics
        if not trial.state.ended:
            return self._curve(job, trial, metrics)
        with self._lock:
            known = self._ended.get((job.uid, trial.number))
        if known is None:
            known = self._curve(job, trial, metrics)
            with self._lock:
                self._ended[job.uid, trial.number] = known
                while len(self._ended) > MOST_REMEMBERED:
                    self._ended.popitem(last=False)
        return known

    def _curve(
        self, job: Job, trial: TrialRecord, metrics: Sequence[Metric]
    ) -> Sequence[Measurement]:
        reports = (stored.report for stored in self._trials.reports(job.uid, trial.number))
        return evenly(measurements(reports, metrics), MOST_MEASUREMENTS)

    def shells(self, call: Call, job: Job | None) -> dict[str, str]:
        """Returns the addresses of a job's shells, by replica, as URLs that this caller can use."""
        return {} if job is None else web_access_uris(call, self._shells(job))
