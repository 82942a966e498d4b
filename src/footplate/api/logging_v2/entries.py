"""``entries.list`` and ``logs.list`` of Cloud Logging, for the logs of jobs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from heapq import heappop, heappush
from time import monotonic
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from footplate.api.accepted_parameters import Parameters
from footplate.api.json_route import Call
from footplate.api.logging_v2.job_lookup import JobFinder
from footplate.api.logging_v2.stream_logs import Followers, invocation
from footplate.api.request_bodies import MAX_JSON_BYTES, read_body, require_json
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.jobs import Job
from footplate.domain.log_lines import Entry, belongs
from footplate.domain.names import JobUid, check_project
from footplate.ports.logs import Logs
from footplate.wire.json_text import JsonObject, parse_object
from footplate.wire.logging_v2.entries import encode_entry
from footplate.wire.logging_v2.matching import matches
from footplate.wire.logging_v2.queries import Query, parse_query
from footplate.wire.logging_v2.requests import ListEntriesRequest
from footplate.wire.logging_v2.scope import Span, job_ids, span, without_end
from footplate.wire.paging import PageRule, list_json, parse_token

# Merges the entries of several logs in the order of their timestamps.

_READ = 1000
_TICK = timedelta(microseconds=1)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POSITION = re.compile(r"([0-9]{1,18})\.([A-Za-z0-9_-]{1,128})")


@dataclass(frozen=True, order=True)
class Position:
    """An entry's position in the merged logs. Within a log all timestamps differ."""

    timestamp: datetime
    uid: JobUid

    def __str__(self) -> str:
        return f"{(self.timestamp - _EPOCH) // _TICK}.{self.uid}"

    @classmethod
    def parse(cls, text: str) -> Position:
        """Returns the position that ``text`` stands for. Raises InvalidArgument."""
        if match := _POSITION.fullmatch(text):
            try:
                return cls(_EPOCH + int(match[1]) * _TICK, JobUid(match[2]))
            except OverflowError:
                pass
        raise InvalidArgument.of(
            (
                Violation(
                    "pageToken",
                    (
                        "the service never returned this token; use nextPageToken of an earlier "
                        "answer"
                    ),
                ),
            )
        )


@dataclass(frozen=True)
class Found:
    """A found entry. ``job`` is the job whose log was read, perhaps a trial's run."""

    position: Position
    job: Job
    entry: Entry


def merge_logs(
    logs: Logs, jobs: Iterable[Job], bounds: Span, after: Position | None, *, descending: bool
) -> Iterator[Found]:
    """Yields the entries of the jobs' logs within ``bounds`` and after ``after``, in the requested
    order.

    Opens a log only when its first entry may be next, so few of many logs are open at once.
    """
    if after is not None:
        bounds = _narrowed(bounds, after, descending=descending)
    waiting = _find_ends(logs, jobs, bounds, descending=descending)
    waiting.sort(key=lambda pair: (pair[0], pair[1].uid), reverse=not descending)
    sign = -1 if descending else 1
    open_logs: list[tuple[int, JobUid, Found, Iterator[Found]]] = []

    def push(found: Iterator[Found]) -> None:
        if (first := next(found, None)) is not None:
            key = sign * ((first.position.timestamp - _EPOCH) // _TICK)
            heappush(open_logs, (key, first.position.uid, first, found))

    while open_logs or waiting:
        while waiting and (not open_logs or not _is_later(waiting[-1][0], open_logs[0][2], sign)):
            push(_read(logs, waiting.pop()[1], bounds, after, descending=descending))
        if open_logs:
            *_, first, found = heappop(open_logs)
            yield first
            push(found)


def _is_later(time: datetime, found: Found, sign: int) -> bool:
    """Returns whether a log that begins at ``time`` has no entry before ``found``."""
    return time > found.position.timestamp if sign > 0 else time < found.position.timestamp


def _narrowed(bounds: Span, after: Position, *, descending: bool) -> Span:
    if descending:
        last = after.timestamp if bounds.last is None else min(bounds.last, after.timestamp)
        return Span(bounds.first, last)
    first = after.timestamp if bounds.first is None else max(bounds.first, after.timestamp)
    return Span(first, bounds.last)


def _find_ends(
    logs: Logs, jobs: Iterable[Job], bounds: Span, *, descending: bool
) -> list[tuple[datetime, Job]]:
    """Returns each log with entries within ``bounds``, with the time of the entry to read first."""
    found = []
    for job in jobs:
        span = logs.span(job.log)
        if span is None:
            continue
        first = span[0] if bounds.first is None else max(span[0], bounds.first)
        last = span[1] if bounds.last is None else min(span[1], bounds.last)
        if first <= last:
            found.append((last if descending else first, job))
    return found


def _read(
    logs: Logs, job: Job, bounds: Span, after: Position | None, *, descending: bool
) -> Iterator[Found]:
    entries = (_descending if descending else _ascending)(logs, job.log, bounds)
    for entry in entries:
        position = Position(entry.timestamp, job.uid)
        if after is None or _is_behind(position, after, descending=descending):
            yield Found(position, job, entry)


def _is_behind(position: Position, after: Position, *, descending: bool) -> bool:
    """Returns whether ``position`` comes after ``after``; equal timestamps are sorted by uid."""
    if position.timestamp == after.timestamp:
        return position.uid > after.uid
    return (position.timestamp < after.timestamp) == descending


def _ascending(logs: Logs, uid: JobUid, bounds: Span) -> Iterator[Entry]:
    cursor = 0 if bounds.first is None else logs.seek(uid, bounds.first)
    while (reading := logs.read(uid, cursor, _READ)).entries:
        for entry in reading.entries:
            if bounds.last is not None and entry.timestamp > bounds.last:
                return
            yield entry
        cursor = reading.cursor


def _descending(logs: Logs, uid: JobUid, bounds: Span) -> Iterator[Entry]:
    cursor = None if bounds.last is None else logs.seek(uid, bounds.last + _TICK)
    while (reading := logs.read_back(uid, cursor, _READ)).entries:
        for entry in reading.entries:
            if bounds.first is not None and entry.timestamp < bounds.first:
                return
            yield entry
        cursor = reading.cursor


MAX_LOOKED_AT = 20_000
"""Entries in one call; a page may come with fewer matches than asked for, even with none, and
then says where to go on. So no call takes long."""
MAX_TIME_S = 2.0
"""So long a call looks for entries; then it says where to go on, too."""
MAX_PAGE_BYTES = 8 << 20
MAX_JOBS = 5000
"""Whose logs a query looks through."""
LOG_NAMES = PageRule(default=50, maximum=1000)


@dataclass(frozen=True)
class EntryPage:
    """A page of entries. ``after`` is the position of the last entry read; None at the end."""

    entries: tuple[JsonObject, ...]
    after: Position | None


@dataclass(frozen=True)
class Listing:
    """A query for entries: the filter, the order, and the size of a page."""

    query: Query
    descending: bool
    limit: int


def read_page(
    logs: Logs, jobs: Iterable[Job], listing: Listing, after: Position | None
) -> EntryPage:
    """Returns the page that begins after the position ``after``."""
    bounds, descending = span(listing.query), listing.descending
    found: list[JsonObject] = []
    looked_at, size_bytes, deadline = 0, 0, monotonic() + MAX_TIME_S
    for each in merge_logs(logs, jobs, bounds, after, descending=descending):
        # At least one entry is read in each call. Otherwise a page could make no progress, and its
        # client would ask for the same one again and again.
        if (
            len(found) >= listing.limit
            or looked_at >= MAX_LOOKED_AT
            or size_bytes >= MAX_PAGE_BYTES
            or (looked_at and monotonic() > deadline)
        ):
            return EntryPage(tuple(found), after)
        looked_at, after = looked_at + 1, each.position
        if belongs(each.entry, each.job):
            document = encode_entry(each.entry, each.job.name)
            if matches(listing.query, each.entry, document):
                found.append(document)
                size_bytes += len(each.entry.line.message) + len(each.entry.line.payload)
    return EntryPage(tuple(found), None)


_PARAMETERS = Parameters("POST", "/v2/entries:list")


@dataclass(frozen=True)
class Entries:
    """Handlers that list entries of the jobs that a filter names, or of all jobs of some projects.

    ``find_jobs`` returns at most a given number of a project's jobs that ran in a time span, the
    newest first.
    """

    logs: Logs
    finder: JobFinder
    find_jobs: Callable[[str, Span, int], Sequence[Job]]
    followers: Followers
    complete: Callable[[Job], None]

    async def list_entries(self, request: Request) -> Response:
        query = request.query_params
        _PARAMETERS.check(query.multi_items())
        raw = await read_body(request, MAX_JSON_BYTES)
        require_json(request)
        follower = invocation(request.headers.get("user-agent", ""))
        answer = await in_thread(self._answer, raw, follower)
        return JSONResponse(_PARAMETERS.select(answer, query))

    def _answer(self, raw: bytes, follower: str | None) -> JsonObject:
        asked = ListEntriesRequest.decode(parse_object(raw))
        query = parse_query(asked.filter)
        token = parse_token(asked.page_token, asked.listing)
        after = None if token is None else Position.parse(token)
        listing = Listing(query, asked.descending, asked.limit)
        jobs = self._find(asked.projects, query)
        if follower is not None and len(jobs) == 1:
            (job,) = jobs
            listing = Listing(without_end(query), asked.descending, asked.limit)
            stream = (follower, job.name.project, job.name.job_id)
            self.followers.asked(stream, ended=job.state.terminal)
        page = read_page(self.logs, jobs, listing, after)
        next_key = None if page.after is None else str(page.after)
        return list_json("entries", page.entries, next_key, asked.listing)

    def _find(self, projects: Sequence[str], query: Query) -> list[Job]:
        """Returns the jobs whose entries are requested.

        Raises:
            InvalidArgument: too many jobs match.
        """
        ids = job_ids(query)
        if ids is None:
            return self._find_all(projects, span(query))
        found: list[Job] = []
        for project in projects:
            for job_id in sorted(ids):
                try:
                    job = self.finder.find(project, job_id)
                except NotFound:
                    continue
                if job.state.terminal:  # its end is stored before it is logged
                    self.complete(job)
                found.append(job)
        return found

    def _find_all(self, projects: Sequence[str], times: Span) -> list[Job]:
        found: list[Job] = []
        for project in projects:
            found += self.find_jobs(project, times, MAX_JOBS + 1)
        if len(found) > MAX_JOBS:
            needed = (
                f"the query matches entries of more than {MAX_JOBS} jobs; narrow its time "
                '(timestamp>=...), or name jobs: resource.labels.job_id="JOB"'
            )
            raise InvalidArgument.of((Violation("filter", needed),))
        return found

    def list_logs(self, call: Call) -> JsonObject:
        """Returns the logs of the newest jobs (``logs.list``), as many as a query searches."""
        project = call.path["project"]
        check_project(project)
        ids = {
            name
            for job in self.find_jobs(project, Span(), MAX_JOBS)
            for name in self.logs.names(job.log)
        }
        names = sorted(f"projects/{project}/logs/{quote(name, safe='')}" for name in ids)
        size = LOG_NAMES.size(call.parameter("pageSize", "page_size"))
        listing = f"logs of {project}"
        after = parse_token(call.parameter("pageToken", "page_token"), listing)
        rest = [name for name in names if after is None or name > after]
        return list_json("logNames", rest[:size], rest[size - 1] if rest[size:] else None, listing)
