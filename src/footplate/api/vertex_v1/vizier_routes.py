"""The URLs of VizierService."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.api.json_route import json_route
from footplate.api.operations import done_operation_routes
from footplate.api.vertex_v1.studies import StudiesApi
from footplate.api.vertex_v1.study_operations import StudyOperations, SuggestApi
from footplate.api.vertex_v1.trials import TrialsApi

if TYPE_CHECKING:
    from starlette.routing import Route

    from footplate.control.vizier import Vizier
    from footplate.domain.catalogue import Catalogue
    from footplate.ports.clock import Clock


def vizier_routes(vizier: Vizier, clock: Clock, catalogue: Catalogue) -> list[Route]:
    """Returns the routes of Vizier, verbs first: the last path segment selects a route."""
    routes = _operation_routes(StudyOperations(vizier))
    studies, trials = StudiesApi(vizier.studies, catalogue), TrialsApi(vizier.trials)
    for version in ("v1", "v1beta1"):
        location = f"/{version}/projects/{{project}}/locations/{{location}}"
        asked = SuggestApi(vizier, clock, version)
        one = f"{location}/studies/{{study}}"
        trial = f"{one}/trials/{{trial}}"
        routes += [
            json_route(f"{location}/studies:lookup", {"POST": studies.lookup}),
            json_route(f"{location}/studies", {"GET": studies.list, "POST": studies.create}),
            json_route(f"{one}/trials:suggest", {"POST": asked.suggest}),
            json_route(f"{one}/trials:listOptimalTrials", {"POST": trials.list_optimal}),
            json_route(f"{one}/trials", {"GET": trials.list, "POST": trials.create}),
            json_route(f"{trial}:addTrialMeasurement", {"POST": trials.measure}),
            json_route(f"{trial}:complete", {"POST": trials.complete}),
            json_route(f"{trial}:stop", {"POST": trials.stop}),
            json_route(f"{trial}:checkTrialEarlyStoppingState", {"POST": asked.check}),
            json_route(trial, {"GET": trials.get, "DELETE": trials.delete}),
            json_route(one, {"GET": studies.get, "DELETE": studies.delete}),
        ]
    return routes


def _operation_routes(api: StudyOperations) -> list[Route]:
    return [
        *done_operation_routes("/studies/{study}", api.suggestion),
        *done_operation_routes("/studies/{study}/trials/{trial}", api.check),
    ]
