"""Refuses, with an alternative, the methods of aiplatform v1 that aren't about training."""

from __future__ import annotations

from collections.abc import Callable

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.domain.errors import Unimplemented
from footplate.wire.json_text import JsonObject

_OF_DATASETS = {
    "datasetVersions": "Footplate keeps no versions of datasets: create another dataset of the "
    "files as they are now",
    "dataItems": "Footplate doesn't look into datasets: read the files that they name, or export "
    "the dataset",
    "savedQueries": "Footplate has no saved queries: filter by the labels of the import files "
    "(filterSplit)",
    "annotationSpecs": "Footplate doesn't look into datasets: the labels are in the import files",
}
_OF_LOCATIONS = {
    "pipelineJobs": "Footplate runs no Kubeflow pipelines: run the pipeline with kfp.local, and "
    "send its training steps as custom jobs (aiplatform.CustomJob, or "
    "CustomTrainingJob for a model)",
    "schedules": "Footplate has no schedules: run the script that sends the job from cron or a "
    "systemd timer",
    "notebookExecutionJobs": "Footplate runs no notebooks: turn the notebook into a script "
    "(jupyter nbconvert --to script), and send the script as a custom "
    "job",
}
REFUSED = {**_OF_LOCATIONS, **_OF_DATASETS}


def unsupported_routes(location: str) -> list[Route]:
    """Returns routes that refuse unsupported collections; ``location`` is a location's URL."""
    methods = ("DELETE", "GET", "PATCH", "POST")
    return [
        json_route(path, dict.fromkeys(methods, _refuser(collection)))
        for parent, collections in (
            (location, _OF_LOCATIONS),
            (f"{location}/datasets/{{datasets}}", _OF_DATASETS),
        )
        for collection in collections
        for path in (f"{parent}/{collection}", f"{parent}/{collection}/{{name}}")
    ]


def _refuser(collection: str) -> Callable[[Call], JsonObject]:
    def refuse(_call: Call) -> JsonObject:
        raise Unimplemented(REFUSED[collection])

    return refuse
