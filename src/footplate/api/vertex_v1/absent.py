"""Resources of aiplatform v1 that this version doesn't have yet: none are there, none are made."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from footplate.api.json_route import json_route
from footplate.domain.errors import FailedPrecondition, NotFound

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.api.json_route import Call
    from footplate.wire.json_text import JsonObject

_KINDS = {
    "trainingPipelines": "training pipelines",
}


def absent_routes(location: str) -> list[Route]:
    """``location`` is the URL of a location."""
    routes = []
    for kind, plural in _KINDS.items():
        absent = _Absent(kind, plural)
        path = f"{location}/{kind}"
        routes += [
            json_route(path, {"GET": _nothing, "POST": absent.refuse}),
            json_route(f"{path}/{{resource}}:{{verb}}", {"POST": absent.miss}),
            json_route(f"{path}/{{resource}}", {"GET": absent.miss, "DELETE": absent.miss}),
        ]
    runs = f"{location}/tensorboards/{{tensorboard}}/experiments/{{experiment}}/runs"
    return [*routes, json_route(runs, {"GET": _nothing})]


class _Absent:
    def __init__(self, kind: str, plural: str) -> None:
        self._kind = kind
        self._plural = plural

    def refuse(self, _call: Call) -> NoReturn:
        raise FailedPrecondition(
            f"this version of Footplate has no {self._plural} yet; custom jobs are there"
        )

    def miss(self, call: Call) -> NoReturn:
        name = f"{self._kind}/{call.path['resource']}"
        raise NotFound(f"there is no {name[:200]!r}: {self._plural} are not there yet")


def _nothing(_call: Call) -> JsonObject:
    return {}
