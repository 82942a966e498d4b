"""``projects.locations.studies.trials`` of aiplatform v1."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.api.vertex_v1.studies import study_of
from footplate.domain.errors import NotFound
from footplate.domain.names import TrialName
from footplate.wire.paging import PageRule, list_json, parse_number_token
from footplate.wire.vertex_v1.trials import trial_json
from footplate.wire.vertex_v1.vizier_requests import read_measurement, read_outcome, read_trial

if TYPE_CHECKING:
    from footplate.api.json_route import Call
    from footplate.control.vizier import StudyTrials
    from footplate.control.vizier.trials import MeasuredTrial
    from footplate.domain.names import StudyName
    from footplate.wire.json_text import JsonObject

PAGES = PageRule(default=10_000, maximum=10_000)
"""The SDK reads the first page only, and takes it for all."""
_NUMBER = re.compile(r"[1-9][0-9]{0,8}")


class TrialsApi:
    """The handlers of trials, one for each API method that doesn't answer an operation."""

    def __init__(self, trials: StudyTrials) -> None:
        self._trials = trials

    def create(self, call: Call) -> JsonObject:
        study = study_of(call)
        return _answer(study, self._trials.create(study, read_trial(call.body())))

    def get(self, call: Call) -> JsonObject:
        name = trial_of(call)
        return _answer(name.study, self._trials.get(name.study, name.number))

    def list(self, call: Call) -> JsonObject:
        study = study_of(call)
        asked = f"{study}/trials"
        page = self._trials.list(
            study,
            limit=PAGES.size(call.parameter("pageSize", "page_size")),
            after=parse_number_token(call.parameter("pageToken", "page_token"), asked),
        )
        found = [_answer(study, measured) for measured in page.trials]
        return list_json("trials", found, page.next_key, asked)

    def list_optimal(self, call: Call) -> JsonObject:
        call.check_empty()
        study = study_of(call)
        optimal = self._trials.optimal(study)
        return (
            {"optimalTrials": [_answer(study, measured) for measured in optimal]} if optimal else {}
        )

    def measure(self, call: Call) -> JsonObject:
        name, measurement = trial_of(call), read_measurement(call.body())
        return _answer(name.study, self._trials.measure(name.study, name.number, measurement))

    def complete(self, call: Call) -> JsonObject:
        name, outcome = trial_of(call), read_outcome(call.body())
        return _answer(name.study, self._trials.complete(name.study, name.number, outcome))

    def stop(self, call: Call) -> JsonObject:
        call.check_empty()
        name = trial_of(call)
        return _answer(name.study, self._trials.stop(name.study, name.number))

    def delete(self, call: Call) -> JsonObject:
        name = trial_of(call)
        self._trials.delete(name.study, name.number)
        return {}


def trial_of(call: Call) -> TrialName:
    """Returns the trial's name. Raises NotFound if no trial could have such an id."""
    study, text = study_of(call), call.path["trial"]
    if not _NUMBER.fullmatch(text):
        raise NotFound(
            f"trial {study}/trials/{text[:100]} does not exist; ids of trials are numbers"
        )
    return TrialName(study, int(text))


def _answer(study: StudyName, measured: MeasuredTrial) -> JsonObject:
    return trial_json(str(study), measured.trial, measured.measurements)
