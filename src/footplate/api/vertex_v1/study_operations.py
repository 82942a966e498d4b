"""Vizier methods that return long-running operations, and these operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from footplate.api.vertex_v1.studies import study_of
from footplate.api.vertex_v1.trials import trial_of
from footplate.domain.errors import NotFound
from footplate.domain.names import StudyOperationName
from footplate.domain.studies.transitions import as_handed_out
from footplate.wire.vertex_v1.trials import trial_json
from footplate.wire.vertex_v1.vizier_operations import (
    CheckId,
    SuggestionId,
    check_json,
    suggestion_json,
)
from footplate.wire.vertex_v1.vizier_requests import read_suggest

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.api.json_route import Call
    from footplate.control.vizier import Vizier
    from footplate.domain.names import StudyName
    from footplate.domain.studies.records import TrialRecord
    from footplate.ports.clock import Clock
    from footplate.wire.json_text import JsonObject


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
    """Handlers that return operations again; an operation's name contains its whole answer."""

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
