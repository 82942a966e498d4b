"""``projects.locations.hyperparameterTuningJobs`` of aiplatform v1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.listing import Listing
from footplate.api.operations import deletion
from footplate.api.vertex_v1.parents import location_of
from footplate.domain.names import TuningJobName, trial_run_name
from footplate.domain.states import State
from footplate.wire.vertex_v1.answers import hyperparameter_tuning_job_json
from footplate.wire.vertex_v1.queries import PAGES, VOCABULARY
from footplate.wire.vertex_v1.submissions import read_tuning_submission
from footplate.wire.vertex_v1.trials import trial_json

if TYPE_CHECKING:
    from footplate.api.jobs_service import JobsService
    from footplate.api.json_route import Call
    from footplate.api.tuning_jobs import TuningJobs
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.jobs import Job
    from footplate.domain.studies.records import TrialRecord
    from footplate.ports.clock import Clock
    from footplate.wire.json_text import JsonObject

_LISTING = Listing("hyperparameterTuningJobs", VOCABULARY, PAGES)


class HyperparameterTuningJobs:
    """One method for each method of the API; ``version`` is ``v1`` or ``v1beta1``."""

    def __init__(
        self,
        jobs: JobsService,
        clock: Clock,
        catalogue: Catalogue,
        tuning: TuningJobs,
        version: str,
    ) -> None:
        self._jobs = jobs
        self._clock = clock
        self._catalogue = catalogue
        self._tuning = tuning
        self._version = version

    def create(self, call: Call) -> JsonObject:
        submission = read_tuning_submission(call.body(), location_of(call), self._catalogue)
        return hyperparameter_tuning_job_json(self._jobs.submit(submission))

    def get(self, call: Call) -> JsonObject:
        """With all trials, by number."""
        job = self._jobs.get(_name(call))
        runs = self._tuning.runs(job)
        told = [self._trial(call, job, t, runs.get(t.number)) for t in self._tuning.trials(job)]
        return hyperparameter_tuning_job_json(job, self._tuning.explain(job), told)

    def list(self, call: Call) -> JsonObject:
        """A ``readMask`` is ignored: clients take more than they asked for."""
        here = location_of(call)
        collection = TuningJobName(here.project, here.location, "").collection
        return _LISTING.answer(self._jobs, collection, call, self._brief)

    def cancel(self, call: Call) -> JsonObject:
        """The body says nothing, and may be missing; a finished job stays as it is."""
        self._jobs.cancel(_name(call))
        return {}

    def delete(self, call: Call) -> JsonObject:
        """An operation that is done already, so that no client has to poll."""
        name = _name(call)
        self._jobs.delete(name)
        return deletion(name, self._clock.now(), self._version)

    def _brief(self, _call: Call, job: Job) -> JsonObject:
        return hyperparameter_tuning_job_json(job, self._tuning.explain(job))

    def _trial(self, call: Call, job: Job, trial: TrialRecord, run: Job | None) -> JsonObject:
        """A trial that was given up before it began was never run."""
        began = run is not None or trial.start_time is not None or trial.outcome is State.FAILED
        return trial_json(
            str(job.name),
            trial,
            self._tuning.measurements(job, trial),
            trial_run_name(job.name, trial.number) if began else None,
            self._tuning.shells(call, run),
        )


def _name(call: Call) -> TuningJobName:
    here = location_of(call)
    return TuningJobName(here.project, here.location, call.path["job"])
