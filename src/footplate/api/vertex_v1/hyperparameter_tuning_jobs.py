"""``projects.locations.hyperparameterTuningJobs`` of aiplatform v1."""

from __future__ import annotations

from footplate.api.json_route import Call
from footplate.api.tuning_jobs import TuningJobs
from footplate.api.vertex_v1.located_jobs import LocatedJobs
from footplate.api.vertex_v1.parents import location_of
from footplate.control.jobs import Jobs
from footplate.domain.catalogue import Catalogue
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.names import TuningJobName, trial_run_name
from footplate.domain.studies.records import TrialRecord
from footplate.ports.clock import Clock
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.responses import hyperparameter_tuning_job_json
from footplate.wire.vertex_v1.submissions import read_tuning_submission
from footplate.wire.vertex_v1.trials import trial_json


class HyperparameterTuningJobs:
    """The handlers of tuning jobs, one per API method; ``version`` is ``v1`` or ``v1beta1``."""

    def __init__(
        self,
        jobs: Jobs,
        clock: Clock,
        catalogue: Catalogue,
        tuning: TuningJobs,
        version: str,
    ) -> None:
        self._jobs = jobs
        self._catalogue = catalogue
        self._tuning = tuning
        self._located = LocatedJobs(jobs, clock, TuningJobName, version, catalogue.regions)
        self.cancel, self.delete = self._located.cancel, self._located.delete

    def create(self, call: Call) -> JsonObject:
        submission = read_tuning_submission(call.body(), location_of(call), self._catalogue)
        return hyperparameter_tuning_job_json(self._jobs.submit(submission, call.find_author()))

    def get(self, call: Call) -> JsonObject:
        """Returns the job with all trials, by number."""
        job = self._located.get(call)
        runs = self._tuning.runs(job)
        trials = [self._trial(call, job, t, runs.get(t.number)) for t in self._tuning.trials(job)]
        return hyperparameter_tuning_job_json(job, self._tuning.explain(job), trials)

    def list(self, call: Call) -> JsonObject:
        return self._located.list(call, self._brief)

    def _brief(self, _call: Call, job: Job) -> JsonObject:
        return hyperparameter_tuning_job_json(job, self._tuning.explain(job))

    def _trial(self, call: Call, job: Job, trial: TrialRecord, run: Job | None) -> JsonObject:
        """Returns the JSON of a trial. One that was abandoned early counts as never run."""
        began = run is not None or trial.start_time is not None or trial.outcome is State.FAILED
        return trial_json(
            str(job.name),
            trial,
            self._tuning.measurements(job, trial),
            trial_run_name(job.name, trial.number) if began else None,
            self._tuning.shells(call, run),
        )
