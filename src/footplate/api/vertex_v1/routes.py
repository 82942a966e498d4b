"""The URLs of aiplatform v1; v1beta1 has the same resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.json_route import json_route
from footplate.api.vertex_v1.absent import absent_routes
from footplate.api.vertex_v1.custom_jobs import CustomJobs
from footplate.api.vertex_v1.hyperparameter_tuning_jobs import HyperparameterTuningJobs
from footplate.api.web_access import no_shells

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.api.jobs_service import JobsService
    from footplate.api.web_access import ShellPaths
    from footplate.domain.catalogue import Catalogue
    from footplate.ports.clock import Clock


def vertex_routes(
    jobs: JobsService, clock: Clock, catalogue: Catalogue, shells: ShellPaths = no_shells
) -> list[Route]:
    """Verbs before resources: a route is found by the last segment of its URL."""
    routes = []
    tuning = HyperparameterTuningJobs(jobs, catalogue)
    for version in ("v1", "v1beta1"):
        api = CustomJobs(jobs, clock, catalogue, shells, version)
        location = f"/{version}/projects/{{project}}/locations/{{location}}"
        job = f"{location}/customJobs/{{job}}"
        routes += [
            json_route(f"{location}/customJobs", {"GET": api.list, "POST": api.create}),
            json_route(f"{job}:cancel", {"POST": api.cancel}),
            json_route(job, {"GET": api.get, "DELETE": api.delete}),
            *absent_routes(location, {"hyperparameterTuningJobs": tuning.create}),
        ]
    return routes
