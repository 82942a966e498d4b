"""Formats custom jobs as aiplatform v1 responses."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from footplate.domain.admission import Explanation
from footplate.domain.errors import Code
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.wire.json_text import JsonObject
from footplate.wire.status import status_json
from footplate.wire.timestamps import format_time
from footplate.wire.vertex_v1.enums import JobState

STATES = {
    State.QUEUED: JobState.JOB_STATE_QUEUED,
    State.PREPARING: JobState.JOB_STATE_PENDING,
    State.RUNNING: JobState.JOB_STATE_RUNNING,
    State.SUCCEEDED: JobState.JOB_STATE_SUCCEEDED,
    State.FAILED: JobState.JOB_STATE_FAILED,
    State.CANCELLING: JobState.JOB_STATE_CANCELLING,
    State.CANCELLED: JobState.JOB_STATE_CANCELLED,
}
"""The SDK waits for ever on all other states, so none of them is ever answered."""

_NONE: Mapping[str, str] = MappingProxyType({})


def custom_job_json(
    job: Job,
    waiting: Explanation | None = None,
    shells: Mapping[str, str] = _NONE,
    engine_jobs: Mapping[str, str] = _NONE,
) -> JsonObject:
    """Returns the accepted request, with the fields that the service adds.

    ``waiting`` explains why the job waits. Footplate's own fields are ``pendingExplanation``,
    ``endExplanation`` (what went wrong in a job that succeeded), ``containerImages`` (the image
    that each name stood for), and where each replica runs on an engine (``engine_jobs``).
    ``shells`` has the addresses of the job's shells, by replica.
    """
    answer: JsonObject = {"name": str(job.name)}
    answer |= json.loads(job.request)
    if job.labels:
        answer["labels"] = dict(job.labels)
    answer["state"] = STATES[job.state].name
    answer["createTime"] = format_time(job.create_time)
    if job.start_time:
        answer["startTime"] = format_time(job.start_time)
    if job.end_time:
        answer["endTime"] = format_time(job.end_time)
    answer["updateTime"] = format_time(job.update_time)
    if waiting is not None:
        answer["pendingExplanation"] = waiting.text
    if job.images:
        answer["containerImages"] = dict(job.images)
    if engine_jobs:
        answer["engineJobs"] = dict(engine_jobs)
    if shells:
        answer["webAccessUris"] = dict(shells)
    if job.state in (State.FAILED, State.CANCELLED):
        answer["error"] = _error(job)
    if job.ending and job.ending.message and job.state is State.SUCCEEDED:
        answer["endExplanation"] = job.ending.message
    return answer


def hyperparameter_tuning_job_json(
    job: Job, waiting: Explanation | None = None, trials: Sequence[JsonObject] = ()
) -> JsonObject:
    """Returns a tuning job, like a custom job; lists omit ``trials``, as Google's service does."""
    answer = custom_job_json(job, waiting)
    return {**answer, "trials": list(trials)} if trials else answer


def _error(job: Job) -> JsonObject:
    """Returns an error, never with code 0: the SDK would take the job for a success."""
    if job.ending is None:
        return status_json(Code.UNKNOWN, f"the job ended {job.state.value}")
    return status_json(job.ending.code, job.ending.message or f"the job ended {job.state.value}")
