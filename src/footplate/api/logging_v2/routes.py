"""The URLs of job logs, and the stream of a job's lines."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from footplate.api.footplate_v1.log_pages import log_page_routes
from footplate.api.json_route import json_route
from footplate.api.logging_v2.entries import Entries
from footplate.api.logging_v2.job_lookup import JobFinder
from footplate.api.logging_v2.stream_logs import Followers
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.jobs import Job
from footplate.domain.log_lines import Entry, belongs
from footplate.domain.names import JobName, parse_job_name, trial_run_name
from footplate.domain.replica_names import choose_replica
from footplate.domain.service_log_lines import SERVICE
from footplate.ports.logs import Logs
from footplate.wire.json_text import describe
from footplate.wire.log_lines import encode_lines
from footplate.wire.logging_v2.scope import Span

LIFE_SIGN_S = 5.0
"""After so long without a line an empty one is sent, which shows whether the reader is there
still; and the job is looked at, should the news of its end have been missed."""

_LOGS = (
    "/v2/projects/{project}/logs",
    "/v2/projects/{project}/locations/{location}/buckets/{bucket}/views/{view}/logs",
)
_SWITCH = {"": False, "false": False, "true": True}


@dataclass(frozen=True)
class _LineRequest:
    """A request for lines. An empty ``replica`` or ``trial`` means all of them."""

    cursor: int
    follow: bool
    replica: str
    trial: str


class LineStream:
    """Streams a log's lines. A client that follows needs no thread: new lines wake its reader."""

    def __init__(self, logs: Logs, get_job: Callable[[JobName], Job]) -> None:
        self._logs = logs
        self._get_job = get_job

    async def read(self, request: Request) -> Response:
        """Streams lines, one JSON object each: ``GET .../logs?cursor=&follow=&replica=&trial=``."""
        line_request = _read_control_request(request)
        name = parse_job_name(request.path_params["name"])
        job = await in_thread(self._find, name, line_request.trial)
        if line_request.replica:
            replica = choose_replica(line_request.replica, job.spec.replica_names())
            line_request = replace(line_request, replica=replica)
        # A wrong cursor is refused here, while that still can be said.
        await in_thread(self._logs.read, job.log, line_request.cursor, 1)
        return StreamingResponse(self._stream(job, line_request), media_type="application/x-ndjson")

    def _find(self, name: JobName, trial: str) -> Job:
        """Returns the job with this name; with ``trial``, the job that runs that trial.

        Raises:
            NotFound: the job doesn't exist, or no such trial has started.
            InvalidArgument: the job isn't a tuning job.
        """
        job = self._get_job(name)
        if not trial:
            return job
        if job.spec.search is None:
            raise _wrong("trial", trial, f"no trial, because the job {name} isn't a tuning job")
        try:
            return self._get_job(trial_run_name(name, int(trial)))
        except NotFound:
            raise NotFound(
                f"trial {trial} of the job {name} doesn't exist, or hasn't started"
            ) from None

    async def _stream(self, job: Job, line_request: _LineRequest) -> AsyncIterator[bytes]:
        loop, changed = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the server has stopped meanwhile
                loop.call_soon_threadsafe(changed.set)

        # Lines come to the one, the news of the job's end to the other.
        unwatch = [self._logs.watch(uid, wake) for uid in {job.log, job.uid}]
        try:
            cursor, last_turn = line_request.cursor, not line_request.follow
            while True:
                changed.clear()
                reading = await in_thread(self._logs.read, job.log, cursor)
                cursor = reading.cursor
                if text := encode_lines(_chosen(reading.entries, job, line_request.replica)):
                    yield text
                if reading.entries:
                    continue
                if last_turn:
                    return
                # Lines written before the end are readable once the end is seen: one more turn.
                last_turn = await in_thread(self._has_ended, job)
                if not last_turn and not await _happens(changed):
                    yield b"\n"
        finally:
            for leave in unwatch:
                leave()

    def _has_ended(self, job: Job) -> bool:
        try:
            return self._get_job(job.name).state.terminal
        except NotFound:
            return True


async def _happens(changed: asyncio.Event) -> bool:
    """Returns whether the event was set before the next sign of life is due."""
    try:
        await asyncio.wait_for(changed.wait(), LIFE_SIGN_S)
    except TimeoutError:
        return False
    return True


def _chosen(entries: tuple[Entry, ...], job: Job, replica: str) -> tuple[Entry, ...]:
    """Returns a replica's entries, without the service's own: this API reports those as events."""
    return tuple(
        entry
        for entry in entries
        if entry.replica != SERVICE and belongs(entry, job) and replica in ("", entry.replica)
    )


def _read_control_request(request: Request) -> _LineRequest:
    given = request.query_params
    cursor, follow = given.get("cursor", "0"), given.get("follow", "")
    trial = given.get("trial", "")
    if not _is_number(cursor):
        raise _wrong("cursor", cursor, "a sequence number of a log line, or 0")
    if follow not in _SWITCH:
        raise _wrong("follow", follow, "true, false")
    if trial and not _is_number(trial):
        raise _wrong("trial", trial, "the number of a trial")
    return _LineRequest(int(cursor), _SWITCH[follow], given.get("replica", ""), trial)


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 20


def _wrong(field: str, given: str, allowed: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, f"{describe(given)} given; allowed: {allowed}"),))


def logging_routes(
    logs: Logs,
    get_job: Callable[[JobName], Job],
    finder: JobFinder,
    followers: Followers,
    find_jobs: Callable[[str, Span, int], Sequence[Job]],
    complete: Callable[[Job], None] = lambda _: None,
) -> list[Route]:
    """Returns the routes of logs. ``get_job`` raises NotFound.

    ``find_jobs`` returns at most a given number of a project's jobs that ran in a time span, the
    newest first. ``followers`` is shared with the middleware EndOfStream. ``complete`` adds the
    service's own entries to the log of a job that has ended.
    """
    entries = Entries(logs, finder, find_jobs, followers, complete)
    stream = LineStream(logs, get_job)
    return [
        Route("/v2/entries:list", entries.list_entries, methods=["POST"]),
        *(json_route(path, {"GET": entries.list_logs}) for path in _LOGS),
        Route("/footplate/v1/{name:path}/logs", stream.read, methods=["GET"]),
        *log_page_routes(logs, get_job),
    ]
