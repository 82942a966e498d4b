"""Formats studies as aiplatform v1 responses."""

from __future__ import annotations

import json

from footplate.domain.studies.records import StudyRecord
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time
from footplate.wire.training_v1.studies.translation import study_spec


def study_json(study: StudyRecord) -> JsonObject:
    """Returns a study; its ``studySpec`` is the accepted one, unchanged.

    The ``studyConfig`` of a study of ml v1 becomes a ``studySpec``.
    """
    spec = json.loads(study.request)
    answer: JsonObject = {
        "name": str(study.name),
        "displayName": study.display_name,
        "studySpec": study_spec(spec) if study.name and study.name.chosen else spec,
        "state": study.state.name,
        "createTime": format_time(study.create_time),
    }
    if study.why_inactive:
        answer["inactiveReason"] = study.why_inactive
    return answer
