"""Formats studies, trials and their operations as ml v1 responses."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from footplate.domain.names import OperationName, StudyName, TrialName
from footplate.domain.studies.metrics import Measurement
from footplate.domain.studies.records import StudyRecord, TrialRecord
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time
from footplate.wire.training_v1.studies.translation import trial_of
from footplate.wire.vertex_v1 import trials
from footplate.wire.vertex_v1.vizier_operations import CheckId, SuggestionId

_TYPES = "type.googleapis.com/google.cloud.ml.v1"
_OPERATION = re.compile(r"(.+?)-of-([0-9]{1,9})-(.+)")


def study_json(study: StudyRecord) -> JsonObject:
    """Returns a study of ml v1; its ``studyConfig`` is the accepted one."""
    answer: JsonObject = {
        "name": str(study.name),
        "studyConfig": json.loads(study.request),
        "state": study.state.name,
        "createTime": format_time(study.create_time),
    }
    if study.why_inactive:
        answer["inactiveReason"] = study.why_inactive
    return answer


def trial_json(parent: str, trial: TrialRecord, reported: Sequence[Measurement] = ()) -> JsonObject:
    return trial_of(trials.trial_json(parent, trial, reported))


@dataclass(frozen=True)
class StudyOperationId:
    """The id of an operation of a location, which says what was answered, and of which study.

    ``number`` is that of the checked trial, or how many suggestions were requested.
    """

    answered: SuggestionId | CheckId
    number: int
    study_id: str

    @classmethod
    def parse(cls, text: str) -> StudyOperationId | None:
        """Reads an operation's id; None: the text isn't such an id."""
        match = _OPERATION.fullmatch(text)
        if match is None:
            return None
        answered = SuggestionId.parse(match[1]) or CheckId.parse(match[1])
        return None if answered is None else cls(answered, int(match[2]), match[3])

    def __str__(self) -> str:
        return f"{self.answered}-of-{self.number}-{self.study_id}"


def suggestion_json(
    study: StudyName, of: SuggestionId, count: int, client_id: str, suggested: Sequence[JsonObject]
) -> JsonObject:
    """Returns an operation that suggested trials; ``count`` were requested."""
    metadata: JsonObject = {"study": str(study), "suggestionCount": count}
    if client_id:
        metadata["clientId"] = client_id
    response: JsonObject = {"studyState": of.state.name}
    if suggested:
        response["trials"] = [*suggested]
    made = StudyOperationId(of, count, study.study_id)
    return _done(study, made, "SuggestTrials", "SuggestTrialsMetadata", metadata, response)


def check_json(trial: TrialName, of: CheckId) -> JsonObject:
    """Returns an operation that checked a trial; Google's API misspells its metadata's type."""
    metadata: JsonObject = {"study": str(trial.study), "trial": str(trial)}
    made = StudyOperationId(of, trial.number, trial.study.study_id)
    method, response = "CheckTrialEarlyStoppingState", {"shouldStop": of.should_stop}
    return _done(trial.study, made, method, f"{method}Metatdata", metadata, {**response})


def _done(
    study: StudyName,
    made: StudyOperationId,
    method: str,
    metadata_type: str,
    metadata: JsonObject,
    response: JsonObject,
) -> JsonObject:
    time = format_time(made.answered.at)
    times: JsonObject = {"startTime": time, "endTime": time}
    return {
        "name": str(OperationName(study.project, study.location, str(made))),
        "metadata": {"@type": f"{_TYPES}.{metadata_type}", "createTime": time, **metadata},
        "done": True,
        "response": {"@type": f"{_TYPES}.{method}Response", **times, **response},
    }
