"""``projects.locations.studies`` of ml v1: AI Platform Optimizer, over the studies of Vizier.

aiplatform v1 has studies and operations at the same URLs. A request is ml v1's by its host, by
``studyId``, or by the id of the study or operation: clients of ml v1 choose the ids of studies,
and aiplatform numbers them. Clients of aiplatform get all studies in aiplatform's form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

from starlette.datastructures import Headers
from starlette.routing import Match, Route
from starlette.types import Scope

from footplate.api.client_names import find_client
from footplate.api.json_route import Call, json_route
from footplate.api.vertex_v1.parents import location_of
from footplate.api.vertex_v1.studies import StudiesApi, learned_from, region_of, study_of
from footplate.api.vertex_v1.vizier_routes import TrialForm, TrialsApi, trial_of
from footplate.control.vizier import Vizier
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import NotFound, ResourceExhausted
from footplate.domain.names import OperationName, StudyName, TrialName
from footplate.domain.studies.records import StudyRecord, StudyState
from footplate.domain.studies.transitions import as_handed_out
from footplate.ports.clock import Clock
from footplate.wire.json_text import JsonObject, objects
from footplate.wire.training_v1.studies.requests import (
    read_measurement,
    read_outcome,
    read_study,
    read_suggest,
    read_trial,
)
from footplate.wire.training_v1.studies.responses import (
    StudyOperationId,
    check_json,
    study_json,
    suggestion_json,
    trial_json,
)
from footplate.wire.vertex_v1 import vizier_responses
from footplate.wire.vertex_v1.vizier_operations import CheckId, SuggestionId

_VERSION = "v1"
_FORM = TrialForm(read_trial, read_measurement, read_outcome, trial_json, "trials")


def study_routes(vizier: Vizier, clock: Clock, catalogue: Catalogue) -> list[Route]:
    """Returns the routes of ml v1, which match before those of aiplatform v1."""
    api, trials = OptimizerStudies(vizier, catalogue), TrialsApi(vizier.trials, _FORM)
    asked = OptimizerOperations(vizier, clock)
    location = f"/{_VERSION}/projects/{{project}}/locations/{{location}}"
    one = f"{location}/studies/{{study}}"
    trial, operation = f"{one}/trials/{{trial}}", f"{location}/operations/{{operation}}"
    routes = [
        json_route(f"{location}/studies", {"GET": api.list, "POST": api.create}),
        json_route(f"{one}/trials:suggest", {"POST": asked.suggest}),
        json_route(f"{one}/trials:listOptimalTrials", {"POST": trials.list_optimal}),
        json_route(f"{one}/trials", {"GET": trials.list, "POST": trials.create}),
        json_route(f"{trial}:addMeasurement", {"POST": trials.measure}),
        json_route(f"{trial}:complete", {"POST": trials.complete}),
        json_route(f"{trial}:stop", {"POST": trials.stop}),
        json_route(f"{trial}:checkEarlyStoppingState", {"POST": asked.check}),
        json_route(trial, {"GET": trials.get, "DELETE": trials.delete}),
        json_route(one, {"GET": api.get, "DELETE": api.delete}),
        json_route(f"{operation}:cancel", {"POST": asked.cancel}),
        json_route(operation, {"GET": asked.get}),
    ]
    return [_OptimizerRoute(each) for each in routes]


class _OptimizerRoute(Route):
    """A route that matches only the requests of ml v1."""

    def __init__(self, route: Route) -> None:
        super().__init__(route.path, route.endpoint, methods=[*(route.methods or ())])

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        match, child = super().matches(scope)
        if match is not Match.NONE and not _is_of_optimizer(scope, child["path_params"]):
            return Match.NONE, {}
        return match, child


def _is_of_optimizer(scope: Scope, path: dict[str, str]) -> bool:
    headers = Headers(raw=[*scope.get("headers", ())])
    host = headers.get("host", "").partition(":")[0]
    if host.endswith("aiplatform.googleapis.com") or _is_generated(headers):
        return False
    if "study" in path:
        return StudyName("", "", path["study"]).chosen
    if _is_host(host):
        return True
    if "operation" in path:
        return StudyOperationId.parse(path["operation"]) is not None
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    return scope["method"] != "POST" or not query.keys().isdisjoint({"studyId", "study_id"})


def _is_generated(headers: Headers) -> bool:
    """Returns whether the client is generated of aiplatform's protos: there is none of ml v1."""
    return "gapic/" in headers.get("x-goog-api-client", "") or find_client(headers).grpc


def _is_host(name: str) -> bool:
    return name == "ml.googleapis.com" or name.endswith("-ml.googleapis.com")


class OptimizerStudies:
    """The handlers of studies, one for each method of the API."""

    def __init__(self, vizier: Vizier, catalogue: Catalogue) -> None:
        self._studies = vizier.studies
        self._catalogue = catalogue
        self._every = StudiesApi(vizier.studies, catalogue, _own_form)
        self.delete: Callable[[Call], JsonObject] = self._every.delete

    def create(self, call: Call) -> JsonObject:
        """Creates a study. Raises InvalidArgument as aiplatform's does, and AlreadyExists."""
        where = region_of(call, self._catalogue)
        request = read_study(call.body(), call.parameter("studyId", "study_id") or "")
        request = replace(request, learns_from=learned_from(call))
        return study_json(self._studies.create(where, request))

    def get(self, call: Call) -> JsonObject:
        return study_json(self._studies.get(study_of(call)))

    def list(self, call: Call) -> JsonObject:
        """Lists studies; at an address of our own those of aiplatform, too, each in its form."""
        answer = self._every.list(call)
        if _is_host(urlsplit(call.origin).hostname or ""):
            studies = answer.pop("studies", [])
            found = [each for each in objects(studies) if "studyConfig" in each]
            return {**answer, "studies": [*found]} if found else answer
        return answer


def _own_form(study: StudyRecord) -> JsonObject:
    """Returns a study in the form of the API that it was made by."""
    chosen = study.name is not None and study.name.chosen
    return study_json(study) if chosen else vizier_responses.study_json(study)


class OptimizerOperations:
    """Handlers that suggest and check trials, and find what they answered.

    No operation is stored: its id says what was answered, and when.
    """

    def __init__(self, vizier: Vizier, clock: Clock) -> None:
        self._vizier = vizier
        self._clock = clock

    def suggest(self, call: Call) -> JsonObject:
        """Suggests trials.

        Raises ResourceExhausted if every point was tried, by which clients know the end.
        """
        study, request = study_of(call), read_suggest(call.body())
        made = self._vizier.suggesting.suggest(study, request.count, request.client_id)
        if not made.trials and made.state is StudyState.COMPLETED:
            raise ResourceExhausted(
                f"every point of {study} was tried: no trial is left to suggest"
            )
        numbers = [trial.number for trial in made.trials]
        answered = SuggestionId.of(_VERSION, self._clock.now(), made.state, numbers)
        trials = [trial_json(str(study), trial) for trial in made.trials]
        return suggestion_json(study, answered, request.count, request.client_id, trials)

    def check(self, call: Call) -> JsonObject:
        call.check_empty()
        trial = trial_of(call)
        should_stop = self._vizier.stopping.check(trial.study, trial.number)
        return check_json(trial, CheckId(_VERSION, self._clock.now(), should_stop))

    def get(self, call: Call) -> JsonObject:
        """Returns an operation as first answered, without the trials deleted since."""
        where, text = location_of(call), call.path["operation"]
        found = StudyOperationId.parse(text)
        if found is None:
            name = str(OperationName(where.project, where.location, text))
            raise NotFound(f"there is no operation {name[:300]!r}")
        study = StudyName(where.project, where.location, found.study_id)
        answered = found.answered
        if isinstance(answered, CheckId):
            trial = TrialName(study, found.number)
            self._vizier.trials.get(study, trial.number)
            return check_json(trial, answered)
        trials = [t for t in self._vizier.trials.all(study) if answered.has(t.number)]
        client_id = trials[0].client_id if trials else ""
        suggested = [trial_json(str(study), as_handed_out(trial)) for trial in trials]
        return suggestion_json(study, answered, found.number, client_id, suggested)

    def cancel(self, call: Call) -> JsonObject:
        """Leaves the operation as it is: it was done when it was answered. Raises NotFound."""
        call.check_empty()
        self.get(call)
        return {}
