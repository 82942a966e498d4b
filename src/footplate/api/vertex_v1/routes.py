"""The URLs of aiplatform v1; v1beta1 has the same resources."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from footplate.api.json_route import json_route
from footplate.api.tuning_jobs import TuningJobs
from footplate.api.vertex_v1.custom_jobs import CustomJobs
from footplate.api.vertex_v1.hyperparameter_tuning_jobs import HyperparameterTuningJobs
from footplate.api.vertex_v1.training_pipelines import TrainingPipelines
from footplate.api.web_access import no_shells
from footplate.control.jobs import Jobs
from footplate.control.tuning.trials import Trials
from footplate.domain.catalogue import Catalogue
from footplate.ports.clock import Clock

if TYPE_CHECKING:
    from footplate.api.web_access import ShellPaths


def vertex_routes(
    jobs: Jobs,
    clock: Clock,
    catalogue: Catalogue,
    trials: Trials,
    shells: ShellPaths = no_shells,
) -> list[Route]:
    """Returns the routes of jobs in Vertex AI's API.

    Verbs come before resources, as the last path segment selects a route.
    """
    routes, tuning_jobs = [], TuningJobs(jobs, trials, shells)
    for version in ("v1", "v1beta1"):
        api = CustomJobs(jobs, clock, catalogue, shells, version)
        tuning = HyperparameterTuningJobs(jobs, clock, catalogue, tuning_jobs, version)
        location = f"/{version}/projects/{{project}}/locations/{{location}}"
        job = f"{location}/customJobs/{{job}}"
        routes += [
            json_route(f"{location}/customJobs", {"GET": api.list, "POST": api.create}),
            json_route(f"{job}:cancel", {"POST": api.cancel}),
            json_route(job, {"GET": api.get, "DELETE": api.delete}),
            *_tuning_routes(tuning, f"{location}/hyperparameterTuningJobs"),
            *_pipeline_routes(
                TrainingPipelines(jobs, clock, catalogue, version), f"{location}/trainingPipelines"
            ),
        ]
    return routes


def _tuning_routes(api: HyperparameterTuningJobs, path: str) -> list[Route]:
    return [
        json_route(path, {"GET": api.list, "POST": api.create}),
        json_route(f"{path}/{{job}}:cancel", {"POST": api.cancel}),
        json_route(f"{path}/{{job}}", {"GET": api.get, "DELETE": api.delete}),
    ]


def _pipeline_routes(api: TrainingPipelines, path: str) -> list[Route]:
    return [
        json_route(path, {"GET": api.list, "POST": api.create}),
        json_route(f"{path}/{{job}}:cancel", {"POST": api.cancel}),
        json_route(f"{path}/{{job}}", {"GET": api.get, "DELETE": api.delete}),
    ]
