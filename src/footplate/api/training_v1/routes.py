"""``projects.jobs`` and ``projects.getConfig`` of ml v1, and their URLs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from footplate.api.job_listing import Listing
from footplate.api.json_route import Call, json_route
from footplate.api.tuning_jobs import TuningJobs
from footplate.api.web_access import no_shells
from footplate.control.jobs import Jobs
from footplate.control.tuning.trials import Trials
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import FailedPrecondition, NotFound
from footplate.domain.jobs import Job
from footplate.domain.names import TrainingJobName, check_project
from footplate.wire.iam import TestIamPermissionsRequest
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.algorithms import trial_output
from footplate.wire.training_v1.patches import read_patch
from footplate.wire.training_v1.queries import PAGES, VOCABULARY
from footplate.wire.training_v1.responses import job_json
from footplate.wire.training_v1.submissions import read_submission
from footplate.wire.training_v1.trials import in_order, trial_json, trials_output

if TYPE_CHECKING:
    from footplate.api.web_access import ShellPaths


class TrainingProjects:
    def config(self, call: Call) -> JsonObject:
        """Returns the account that jobs run as (``getConfig``), which isn't one of Google's."""
        project = call.path["project"]
        check_project(project)
        return {
            "serviceAccount": f"footplate@{project}.invalid",
            "serviceAccountProject": "0",
            "config": {},
        }

    def operations(self, call: Call) -> JsonObject:
        """Returns an empty list: training has no long-running operations here."""
        check_project(call.path["project"])
        return {}

    def operation(self, call: Call) -> JsonObject:
        """Raises NotFound, also for ``:cancel``: no operation exists."""
        check_project(call.path["project"])
        name = f"projects/{call.path['project']}/operations/{call.path['operation']}"
        raise NotFound(f"there is no operation {name[:300]!r}")


_LISTING = Listing("jobs", VOCABULARY, PAGES)


class TrainingJobs:
    """The handlers of training jobs, one for each method of the API."""

    def __init__(
        self,
        jobs: Jobs,
        catalogue: Catalogue,
        shells: ShellPaths,
        trials: Trials,
    ) -> None:
        self._jobs = jobs
        self._catalogue = catalogue
        self._tuning = TuningJobs(jobs, trials, shells)

    def create(self, call: Call) -> JsonObject:
        project = call.path["project"]
        check_project(project)
        submission = read_submission(call.body(), project, self._catalogue)
        return job_json(self._jobs.submit(submission, call.find_author()))

    def get(self, call: Call) -> JsonObject:
        return self._answer(call, self._jobs.get(_name(call)))

    def list(self, call: Call) -> JsonObject:
        project = call.path["project"]
        check_project(project)
        collection = TrainingJobName(project, "").collection
        return _LISTING.answer(self._jobs, collection, call, self._brief)

    def cancel(self, call: Call) -> JsonObject:
        """Cancels a job; an ended job stays unchanged. The body is optional, and must be empty."""
        call.check_empty()
        self._jobs.cancel(_name(call), call.caller)
        return {}

    def patch(self, call: Call) -> JsonObject:
        mask = call.parameter("updateMask", "update_mask") or ""
        patch = read_patch(call.body(), mask)
        job = self._jobs.set_labels(_name(call), patch.labels, patch.version)
        return self._answer(call, job)

    def policy(self, call: Call) -> JsonObject:
        """Returns an empty policy: every caller with the token may do everything."""
        self._jobs.get(_name(call))
        return {"etag": "ACAB"}

    def set_policy(self, call: Call) -> JsonObject:
        self._jobs.get(_name(call))
        raise FailedPrecondition(
            "Footplate has no IAM policies: everyone who reaches the server, with its token if "
            "one is set, may do everything"
        )

    def permissions(self, call: Call) -> JsonObject:
        asked = TestIamPermissionsRequest.decode(call.body()).permissions
        self._jobs.get(_name(call))
        return {"permissions": [*asked]} if asked else {}

    def _brief(self, call: Call, job: Job) -> JsonObject:
        """Returns the job without its trials, which would make a list long."""
        shells, where = self._tuning.shells(call, job), self._jobs.engine_jobs(job)
        return job_json(job, self._tuning.explain(job), shells, engine_jobs=where)

    def _answer(self, call: Call, job: Job) -> JsonObject:
        search = job.spec.search
        if search is None:
            return self._brief(call, job)
        trials, runs = self._tuning.trials(job), self._tuning.runs(job)
        trial_outputs = [
            trial_json(trial, search, run, self._tuning.shells(call, run))
            | trial_output(job, trial)
            for trial in in_order(trials, search, ended=job.state.terminal)
            for run in (runs.get(trial.number),)
        ]
        return job_json(job, self._tuning.explain(job), trials=trials_output(trials, trial_outputs))


def _name(call: Call) -> TrainingJobName:
    check_project(call.path["project"])
    return TrainingJobName(call.path["project"], call.path["job"])


def training_routes(
    jobs: Jobs,
    catalogue: Catalogue,
    trials: Trials,
    shells: ShellPaths = no_shells,
) -> list[Route]:
    """Returns the routes of ml v1, verbs first: the last path segment selects a route."""
    api, projects = TrainingJobs(jobs, catalogue, shells, trials), TrainingProjects()
    project = "/v1/projects/{project}"
    job = f"{project}/jobs/{{job}}"
    return [
        json_route(f"{project}:getConfig", {"GET": projects.config}),
        json_route(f"{project}/operations", {"GET": projects.operations}),
        json_route(f"{project}/operations/{{operation}}:cancel", {"POST": projects.operation}),
        json_route(f"{project}/operations/{{operation}}", {"GET": projects.operation}),
        json_route(f"{project}/jobs", {"GET": api.list, "POST": api.create}),
        json_route(f"{job}:cancel", {"POST": api.cancel}),
        json_route(f"{job}:getIamPolicy", {"GET": api.policy}),
        json_route(f"{job}:setIamPolicy", {"POST": api.set_policy}),
        json_route(f"{job}:testIamPermissions", {"POST": api.permissions}),
        json_route(job, {"GET": api.get, "PATCH": api.patch}),
    ]
