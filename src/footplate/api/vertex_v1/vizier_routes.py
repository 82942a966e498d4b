"""The URLs of VizierService."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.api.operations import done_operation_routes
from footplate.api.vertex_v1.studies import StudiesApi, study_of
from footplate.control.vizier import StudyTrials, Vizier
from footplate.control.vizier.trials import MeasuredTrial
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import NotFound
from footplate.domain.names import StudyName, StudyOperationName, TrialName
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import TrialRecord
from footplate.domain.studies.transitions import Outcome, as_handed_out
from footplate.domain.studies.user_trials import NewTrial
from footplate.ports.clock import Clock
from footplate.wire.json_text import JsonObject
from footplate.wire.paging import PageRule, list_json, parse_number_token
from footplate.wire.vertex_v1.trials import trial_json
from footplate.wire.vertex_v1.vizier_operations import (
    CheckId,
    SuggestionId,
    check_json,
    suggestion_json,
)
from footplate.wire.vertex_v1.vizier_requests import (
    read_measurement,
    read_outcome,
    read_suggest,
    read_trial,
)

if TYPE_CHECKING:
    from pydantic import JsonValue


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


class SuggestApi:
    """The handlers that suggest trials; ``version`` is that of the called API."""

    def __init__(self, vizier: Vizier, clock: Clock, version: str) -> None:
        self._vizier = vizier
        self._clock = clock
        self._version = version

    def suggest(self, call: Call) -> JsonObject:
        study, request = study_of(call), read_suggest(call.body())
        made = self._vizier.suggesting.suggest(study, request.count, request.client_id)
        numbers = [trial.number for trial in made.trials]
        answered = SuggestionId.of(self._version, self._clock.now(), made.state, numbers)
        return _suggestion(study, answered, made.trials, request.client_id)

    def check(self, call: Call) -> JsonObject:
        call.check_empty()
        trial = trial_of(call)
        should_stop = self._vizier.stopping.check(trial.study, trial.number)
        answered = CheckId(self._version, self._clock.now(), should_stop)
        return check_json(StudyOperationName(trial, str(answered)), answered, trial)


class StudyOperations:
    """Handlers that answer requests for the operations of earlier suggestions and stop checks.

    No operation is stored: its id says what was answered, and when.
    """

    def __init__(self, vizier: Vizier) -> None:
        self._vizier = vizier

    def suggestion(self, call: Call) -> JsonObject:
        """Returns a suggestion's trials as first answered, without those deleted since."""
        study, text = study_of(call), call.path["operation"]
        answered = SuggestionId.parse(text)
        if answered is None:
            _miss(StudyOperationName(study, text))
        trials = self._vizier.trials.all(study)
        found = [as_handed_out(trial) for trial in trials if answered.has(trial.number)]
        return _suggestion(study, answered, found, found[0].client_id if found else "")

    def check(self, call: Call) -> JsonObject:
        trial, text = trial_of(call), call.path["operation"]
        name, answered = StudyOperationName(trial, text), CheckId.parse(text)
        if answered is None:
            _miss(name)
        self._vizier.trials.get(trial.study, trial.number)
        return check_json(name, answered, trial)


def _suggestion(
    study: StudyName, answered: SuggestionId, trials: Sequence[TrialRecord], client_id: str
) -> JsonObject:
    suggested = [trial_json(str(study), trial) for trial in trials]
    return suggestion_json(StudyOperationName(study, str(answered)), answered, client_id, suggested)


def _miss(name: StudyOperationName) -> NoReturn:
    raise NotFound(f"there is no operation {str(name)[:300]!r}")


PAGES = PageRule(default=10_000, maximum=10_000)
"""The SDK reads the first page only, and takes it for all."""
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


@dataclass(frozen=True)
class TrialForm:
    """The JSON form of trials in an API. ``optimal`` names the list of optimal ones."""

    read_trial: Callable[[JsonObject], NewTrial]
    read_measurement: Callable[[JsonObject], Measurement]
    read_outcome: Callable[[JsonObject], Outcome]
    trial_json: Callable[[str, TrialRecord, Sequence[Measurement]], JsonObject]
    optimal: str


VERTEX = TrialForm(read_trial, read_measurement, read_outcome, trial_json, "optimalTrials")


class TrialsApi:
    """The handlers of trials, one for each API method that doesn't answer an operation."""

    def __init__(self, trials: StudyTrials, form: TrialForm = VERTEX) -> None:
        self._trials = trials
        self._form = form

    def create(self, call: Call) -> JsonObject:
        study = study_of(call)
        return self._answer(study, self._trials.create(study, self._form.read_trial(call.body())))

    def get(self, call: Call) -> JsonObject:
        name = trial_of(call)
        return self._answer(name.study, self._trials.get(name.study, name.number))

    def list(self, call: Call) -> JsonObject:
        study = study_of(call)
        asked = f"{study}/trials"
        page = self._trials.list(
            study,
            limit=PAGES.size(call.parameter("pageSize", "page_size")),
            after=parse_number_token(call.parameter("pageToken", "page_token"), asked),
        )
        found = [self._answer(study, measured) for measured in page.trials]
        return list_json("trials", found, page.next_key, asked)

    def list_optimal(self, call: Call) -> JsonObject:
        call.check_empty()
        study = study_of(call)
        optimal = self._trials.optimal(study)
        found: list[JsonValue] = [self._answer(study, measured) for measured in optimal]
        return {self._form.optimal: found} if found else {}

    def measure(self, call: Call) -> JsonObject:
        name, measurement = trial_of(call), self._form.read_measurement(call.body())
        return self._answer(name.study, self._trials.measure(name.study, name.number, measurement))

    def complete(self, call: Call) -> JsonObject:
        name, outcome = trial_of(call), self._form.read_outcome(call.body())
        return self._answer(name.study, self._trials.complete(name.study, name.number, outcome))

    def stop(self, call: Call) -> JsonObject:
        call.check_empty()
        name = trial_of(call)
        return self._answer(name.study, self._trials.stop(name.study, name.number))

    def delete(self, call: Call) -> JsonObject:
        name = trial_of(call)
        self._trials.delete(name.study, name.number)
        return {}

    def _answer(self, study: StudyName, measured: MeasuredTrial) -> JsonObject:
        return self._form.trial_json(str(study), measured.trial, measured.measurements)


def trial_of(call: Call) -> TrialName:
    """Returns the trial's name. Raises NotFound if no trial could have such an id."""
    study, text = study_of(call), call.path["trial"]
    if not _NUMBER.fullmatch(text):
        raise NotFound(
            f"trial {study}/trials/{text[:100]} does not exist; ids of trials are numbers"
        )
    return TrialName(study, int(text))
