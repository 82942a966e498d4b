"""Formats jobs as ml v1 responses."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from footplate.domain.admission import Explanation
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.timestamps import format_time
from footplate.wire.training_v1.algorithms import algorithm_output
from footplate.wire.training_v1.trials import search_output

if TYPE_CHECKING:
    from pydantic import JsonValue

_INFORMATIVE_STATES = frozenset({State.FAILED, State.CANCELLING, State.CANCELLED})
"""The states in which ``errorMessage`` is there."""
_NO_SHELLS: Mapping[str, str] = MappingProxyType({})
_NO_TRIALS: Mapping[str, JsonValue] = MappingProxyType({})


def job_json(
    job: Job,
    waiting: Explanation | None = None,
    shells: Mapping[str, str] = _NO_SHELLS,
    trials: Mapping[str, JsonValue] = _NO_TRIALS,
    engine_jobs: Mapping[str, str] = _NO_SHELLS,
) -> JsonObject:
    """Returns the accepted request, with the fields that the service adds.

    ``waiting`` explains why the job waits, and its place. Footplate's own fields are
    ``pendingExplanation``, ``endExplanation`` (what went wrong in a job that succeeded),
    ``containerImages`` (the image that each name stood for), and where each replica runs on an
    engine (``engine_jobs``). ``shells`` has the addresses of the job's shells, by replica.
    ``trials`` is the output on the trials of a tuning job.
    """
    answer: JsonObject = json.loads(job.request)
    if job.labels:
        answer["labels"] = dict(job.labels)
    answer["createTime"] = format_time(job.create_time)
    if job.start_time:
        answer["startTime"] = format_time(job.start_time)
    if job.end_time:
        answer["endTime"] = format_time(job.end_time)
    answer["state"] = job.state.value
    if job.ending and job.ending.message and job.state in _INFORMATIVE_STATES:
        answer["errorMessage"] = job.ending.message
    if job.ending and job.ending.message and job.state is State.SUCCEEDED:
        answer["endExplanation"] = job.ending.message
    if waiting is not None:
        answer["pendingExplanation"] = waiting.text
    if job.images:
        answer["containerImages"] = dict(job.images)
    if engine_jobs:
        answer["engineJobs"] = dict(engine_jobs)
    if waiting is not None or job.state is not State.QUEUED:
        answer["jobPosition"] = str(waiting.place if waiting is not None else 0)
    answer["trainingOutput"] = {
        **(search_output(job.spec.search) if job.spec.search is not None else {}),
        **algorithm_output(job),
        **trials,
        **({"webAccessUris": dict(shells)} if shells else {}),
    }
    answer["etag"] = format_etag(job.version)
    return answer


def format_etag(version: int) -> str:
    return base64.b64encode(str(version).encode()).decode()


def parse_etag(etag: str) -> int:
    """Returns the version of a job that an etag stands for.

    Raises:
        InvalidArgument: the service never returned such an etag.
    """
    try:
        return int(base64.b64decode(etag.encode(), validate=True))
    except (binascii.Error, ValueError):
        allowed = "the etag that the service returned with the job"
        violation = Violation("etag", f"{describe(etag)} given; allowed: {allowed}")
        raise InvalidArgument.of((violation,)) from None
