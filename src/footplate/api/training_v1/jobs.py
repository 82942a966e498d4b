"""``projects.jobs`` of ml v1."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.job_listing import Listing
from footplate.api.tuning_jobs import TuningJobs
from footplate.domain.errors import FailedPrecondition
from footplate.domain.names import TrainingJobName, check_project
from footplate.wire.training_v1.algorithms import trial_output
from footplate.wire.training_v1.patches import read_patch
from footplate.wire.training_v1.queries import PAGES, VOCABULARY
from footplate.wire.training_v1.responses import job_json
from footplate.wire.training_v1.submissions import read_submission
from footplate.wire.training_v1.trials import in_order, trial_json, trials_output

if TYPE_CHECKING:
    from footplate.api.jobs_service import JobsService
    from footplate.api.json_route import Call
    from footplate.api.trials_service import TrialsService
    from footplate.api.web_access import ShellPaths
    from footplate.domain.catalogue import Catalogue
    from footplate.domain.jobs import Job
    from footplate.wire.json_text import JsonObject

_LISTING = Listing("jobs", VOCABULARY, PAGES)


class TrainingJobs:
    """One method for each method of the API."""

    def __init__(
        self,
        jobs: JobsService,
        catalogue: Catalogue,
        shells: ShellPaths,
        trials: TrialsService,
    ) -> None:
        self._jobs = jobs
        self._catalogue = catalogue
        self._tuning = TuningJobs(jobs, trials, shells)

    def create(self, call: Call) -> JsonObject:
        project = call.path["project"]
        check_project(project)
        submission = read_submission(call.body(), project, self._catalogue)
        return job_json(self._jobs.submit(submission))

    def get(self, call: Call) -> JsonObject:
        return self._answer(call, self._jobs.get(_name(call)))

    def list(self, call: Call) -> JsonObject:
        project = call.path["project"]
        check_project(project)
        collection = TrainingJobName(project, "").collection
        return _LISTING.answer(self._jobs, collection, call, self._brief)

    def cancel(self, call: Call) -> JsonObject:
        """The body is optional and ignored; an ended job is unchanged."""
        self._jobs.cancel(_name(call), call.caller)
        return {}

    def patch(self, call: Call) -> JsonObject:
        mask = call.parameter("updateMask", "update_mask") or ""
        patch = read_patch(call.body(), mask)
        job = self._jobs.set_labels(_name(call), patch.labels, patch.version)
        return self._answer(call, job)

    def policy(self, call: Call) -> JsonObject:
        """There are no policies: who has the token may do everything."""
        self._jobs.get(_name(call))
        return {"etag": "ACAB"}

    def set_policy(self, call: Call) -> JsonObject:
        self._jobs.get(_name(call))
        raise FailedPrecondition(
            "Footplate has no IAM policies: who can reach the server, and has its token where "
            "one is set, may do everything"
        )

    def permissions(self, call: Call) -> JsonObject:
        self._jobs.get(_name(call))
        asked = call.body().get("permissions")
        return {"permissions": asked} if asked else {}

    def _brief(self, call: Call, job: Job) -> JsonObject:
        """Without trials, which would make a list long."""
        return job_json(job, self._tuning.explain(job), self._tuning.shells(call, job))

    def _answer(self, call: Call, job: Job) -> JsonObject:
        search = job.spec.search
        if search is None:
            return self._brief(call, job)
        trials, runs = self._tuning.trials(job), self._tuning.runs(job)
        told = [
            trial_json(trial, search, run, self._tuning.shells(call, run))
            | trial_output(job, trial)
            for trial in in_order(trials, search, ended=job.state.terminal)
            for run in (runs.get(trial.number),)
        ]
        return job_json(job, self._tuning.explain(job), trials=trials_output(trials, told))


def _name(call: Call) -> TrainingJobName:
    check_project(call.path["project"])
    return TrainingJobName(call.path["project"], call.path["job"])
