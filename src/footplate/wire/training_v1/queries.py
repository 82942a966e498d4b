"""Filters and page sizes of ml v1 lists."""

from __future__ import annotations

from footplate.domain.filters import Field
from footplate.domain.job_states import State
from footplate.wire.filters.jobs import Vocabulary
from footplate.wire.paging import PageRule

PAGES = PageRule(default=20, maximum=100)

VOCABULARY = Vocabulary(
    fields={
        "jobId": Field.JOB_ID,
        "job_id": Field.JOB_ID,
        "state": Field.STATE,
        "createTime": Field.CREATE_TIME,
        "create_time": Field.CREATE_TIME,
        "startTime": Field.START_TIME,
        "start_time": Field.START_TIME,
        "endTime": Field.END_TIME,
        "end_time": Field.END_TIME,
    },
    states={"STATE_UNSPECIFIED": None, **{state.value: state for state in State}},
)
