"""The URLs of ml v1's projects and jobs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.json_route import json_route
from footplate.api.training_v1.jobs import TrainingJobs
from footplate.api.training_v1.projects import TrainingProjects
from footplate.api.trials_service import NO_TRIALS
from footplate.api.web_access import no_shells

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.api.jobs_service import JobsService
    from footplate.api.trials_service import TrialsService
    from footplate.api.web_access import ShellPaths
    from footplate.domain.catalogue import Catalogue


def training_routes(
    jobs: JobsService,
    catalogue: Catalogue,
    shells: ShellPaths = no_shells,
    trials: TrialsService = NO_TRIALS,
) -> list[Route]:
    """Verbs before resources: a route is found by the last segment of its URL."""
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
