"""Long-running operations of aiplatform v1.

Deletions are done when they are answered. None is kept: its name says what was deleted and when,
so that it is found again after any restart. Those of models that aren't deletions of a whole model
are in ``vertex_v1.model_operations``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.control.jobs import Jobs
from footplate.domain.errors import NotFound
from footplate.domain.names import (
    CustomJobName,
    ModelName,
    OperationName,
    TrainingPipelineName,
    TuningJobName,
    check_location,
    check_project,
)
from footplate.domain.timestamps import from_micros, to_micros
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time

_Name = CustomJobName | TuningJobName | TrainingPipelineName | ModelName
_KINDS: Mapping[str, type[_Name]] = MappingProxyType(
    {
        "customJobs": CustomJobName,
        "hyperparameterTuningJobs": TuningJobName,
        "trainingPipelines": TrainingPipelineName,
        "models": ModelName,
    }
)
"""What can be deleted, by the last part of its collection's name."""
_ID = re.compile(
    rf"delete-(v1|v1beta1)-({'|'.join(_KINDS)})-([0-9A-Za-z_-]{{1,128}})-([0-9]{{1,17}})"
)
_LOCATIONS = tuple(
    f"{prefix}/projects/{{project}}/locations/{{location}}" for prefix in ("/v1", "/v1beta1", "/ui")
)
"""Google's generated clients ask for operations below ``/ui``."""
_TYPES = "type.googleapis.com/google.cloud.aiplatform"


def deletion(name: _Name, at: datetime, version: str) -> JsonObject:
    """Returns the operation that deleted a job or a model; ``version`` is the called API's."""
    kind, resource_id = str(name).split("/")[-2:]
    operation_id = f"delete-{version}-{kind}-{resource_id}-{to_micros(at)}"
    operation = OperationName(name.project, name.location, operation_id)
    return deleted(str(operation), at, version)


def operation_routes(
    jobs: Jobs, model_exists: Callable[[ModelName], bool] = lambda _: False
) -> list[Route]:
    api = _Operations(jobs, model_exists)
    lists = [
        json_route(f"{location}/{kind}/{{resource}}/operations", {"GET": _none})
        for location in _LOCATIONS
        for kind in _KINDS
        if kind != "models"  # vertex_v1.model_operations has those
    ]
    return [*lists, *done_operation_routes("", api.get)]


def done_operation_routes(resource: str, get: Callable[[Call], JsonObject]) -> list[Route]:
    """Returns the routes of operations on ``resource``, a URL in a location: ``/models/{model}``.

    ``get`` raises NotFound. These operations are done when they are answered, so none is listed,
    and there is none to cancel or delete.
    """

    def leave(call: Call) -> JsonObject:
        call.check_empty()
        get(call)
        return {}

    def wait(call: Call) -> JsonObject:
        call.check_empty()
        return get(call)

    routes = []
    for location in _LOCATIONS:
        one = f"{location}{resource}/operations/{{operation}}"
        routes += [
            json_route(f"{location}{resource}/operations", {"GET": _none}),
            json_route(f"{one}:wait", {"POST": wait}),
            json_route(f"{one}:cancel", {"POST": leave}),
            json_route(one, {"GET": get, "DELETE": leave}),
        ]
    return routes


class _Operations:
    def __init__(self, jobs: Jobs, model_exists: Callable[[ModelName], bool]) -> None:
        self._jobs = jobs
        self._model_exists = model_exists

    def get(self, call: Call) -> JsonObject:
        name = OperationName(call.path["project"], call.path["location"], call.path["operation"])
        check_project(name.project)
        check_location(name.location)
        match = _ID.fullmatch(name.operation_id)
        if match is None or self._is_there(_KINDS[match[2]](name.project, name.location, match[3])):
            raise NotFound(f"there is no operation {str(name)[:300]!r}")
        return deleted(str(name), from_micros(int(match[4])), match[1])

    def _is_there(self, name: _Name) -> bool:
        if isinstance(name, ModelName):
            return self._model_exists(name)
        try:
            self._jobs.get(name)
        except NotFound:
            return False
        return True


def _none(_call: Call) -> JsonObject:
    return {}


def deleted(name: str, at: datetime, version: str) -> JsonObject:
    """Returns an operation that deleted something.

    Clients parse it strictly: an extra field or an unknown type is an error.
    """
    time = format_time(at)
    return {
        "name": name,
        "metadata": {
            "@type": f"{_TYPES}.{version}.DeleteOperationMetadata",
            "genericMetadata": {"createTime": time, "updateTime": time},
        },
        "done": True,
        "response": {"@type": "type.googleapis.com/google.protobuf.Empty"},
    }
