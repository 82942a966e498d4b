"""Filters and page sizes of aiplatform v1 lists."""

from __future__ import annotations

from footplate.domain.filters import Field
from footplate.wire.filters.jobs import Vocabulary
from footplate.wire.paging import PageRule
from footplate.wire.vertex_v1.enums import JobState, PipelineState
from footplate.wire.vertex_v1.pipeline_responses import STATES as PIPELINE_STATES
from footplate.wire.vertex_v1.responses import STATES

PAGES = PageRule(default=100, maximum=1000)
_OURS = {theirs: ours for ours, theirs in STATES.items()}

_PIPELINES = {theirs: ours for ours, theirs in PIPELINE_STATES.items()}

VOCABULARY = Vocabulary(
    fields={
        "displayName": Field.DISPLAY_NAME,
        "display_name": Field.DISPLAY_NAME,
        "state": Field.STATE,
        "createTime": Field.CREATE_TIME,
        "create_time": Field.CREATE_TIME,
        "startTime": Field.START_TIME,
        "start_time": Field.START_TIME,
        "endTime": Field.END_TIME,
        "end_time": Field.END_TIME,
    },
    states={state.name: _OURS.get(state) for state in JobState},
)

PIPELINE_VOCABULARY = Vocabulary(
    fields=VOCABULARY.fields,
    states={state.name: _PIPELINES.get(state) for state in PipelineState},
)
MODEL_VOCABULARY = Vocabulary(
    fields={
        "displayName": Field.DISPLAY_NAME,
        "display_name": Field.DISPLAY_NAME,
        "model": Field.JOB_ID,
        "createTime": Field.CREATE_TIME,
        "create_time": Field.CREATE_TIME,
    },
    states={},
)
"""``model`` is the id of a model; models have no state."""
