"""Refuses, with an alternative, the methods of aiplatform v1 that aren't about training."""

from __future__ import annotations

from collections.abc import Callable

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.domain.errors import Unimplemented
from footplate.wire.json_text import JsonObject

REFUSED = {
    "pipelineJobs": "Footplate runs no Kubeflow pipelines: run the pipeline with kfp.local, and "
    "send its training steps as custom jobs (aiplatform.CustomJob, or "
    "CustomTrainingJob for a model)",
    "schedules": "Footplate has no schedules: run the script that sends the job from cron or a "
    "systemd timer",
    "notebookExecutionJobs": "Footplate runs no notebooks: turn the notebook into a script "
    "(jupyter nbconvert --to script), and send the script as a custom "
    "job",
}


def unsupported_routes(location: str) -> list[Route]:
    """Returns routes that refuse unsupported collections; ``location`` is a location's URL."""
    methods = ("DELETE", "GET", "PATCH", "POST")
    return [
        json_route(path, dict.fromkeys(methods, _refuser(collection)))
        for collection in REFUSED
        for path in (f"{location}/{collection}", f"{location}/{collection}/{{name}}")
    ]


def _refuser(collection: str) -> Callable[[Call], JsonObject]:
    def refuse(_call: Call) -> JsonObject:
        raise Unimplemented(REFUSED[collection])

    return refuse
