"""Refuses, with an alternative, the methods of aiplatform v1 that aren't about training."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.json_route import json_route
from footplate.domain.errors import Unimplemented

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.routing import Route

    from footplate.api.json_route import Call
    from footplate.wire.json_text import JsonObject

REFUSED = {
    "pipelineJobs": "Footplate runs no Kubeflow pipelines: send their training steps as custom "
    "jobs (aiplatform.CustomJob, or CustomTrainingJob for a model), and run the pipeline itself "
    "with kfp.local",
    "schedules": "Footplate has no schedules: let cron or a systemd timer run the script that "
    "sends the job",
    "notebookExecutionJobs": "Footplate runs no notebooks: make a script of it with jupyter "
    "nbconvert --to script, and send that as a custom job",
}


def unsupported_routes(location: str) -> list[Route]:
    """``location`` is the URL of a location."""
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
