"""Formats studies as aiplatform v1 responses."""

from __future__ import annotations

import json

from footplate.domain.studies.records import StudyRecord
from footplate.wire.json_text import JsonObject
from footplate.wire.timestamps import format_time


def study_json(study: StudyRecord) -> JsonObject:
    """Returns a study; its ``studySpec`` is the accepted one, unchanged."""
    answer: JsonObject = {
        "name": str(study.name),
        "displayName": study.display_name,
        "studySpec": json.loads(study.request),
        "state": study.state.name,
        "createTime": format_time(study.create_time),
    }
    if study.why_inactive:
        answer["inactiveReason"] = study.why_inactive
    return answer
