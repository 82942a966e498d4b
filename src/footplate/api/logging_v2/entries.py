"""``entries.list`` of Cloud Logging, for job logs: a page of the entries that match a query."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from footplate.api.logging_v2.stream_logs import invocation
from footplate.api.request_bodies import MAX_JSON_BYTES, read_body, require_json
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.log_lines import belongs
from footplate.wire.json_text import parse_object
from footplate.wire.logging_v2.entries import encode_entry
from footplate.wire.logging_v2.matching import matches
from footplate.wire.logging_v2.queries import parse_query
from footplate.wire.logging_v2.requests import ListEntriesRequest
from footplate.wire.logging_v2.scope import Span, job_ids, span, without_end
from footplate.wire.paging import format_token, parse_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from starlette.requests import Request
    from starlette.responses import Response

    from footplate.api.logging_v2.job_lookup import JobFinder
    from footplate.api.logging_v2.stream_logs import Followers
    from footplate.domain.jobs import Job
    from footplate.domain.log_lines import Entry
    from footplate.domain.names import JobUid
    from footplate.ports.logs import Logs
    from footplate.wire.json_text import JsonObject
    from footplate.wire.logging_v2.queries import Query


MAX_LOOKED_AT = 20_000
"""Entries in one call; a page may come with fewer matches than asked for, even with none, and
then says where to go on. So no call takes long."""
MAX_PAGE_BYTES = 8 << 20
_READ = 1000
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True)
class EntryPage:
    """``next_cursor`` continues after the last entry; None: there are no more entries."""

    entries: tuple[JsonObject, ...]
    next_cursor: int | None


@dataclass(frozen=True)
class Listing:
    """Which entries, in which order, and how many of them at once."""

    query: Query
    descending: bool
    limit: int


def read_page(logs: Logs, job: Job, listing: Listing, after: int | None) -> EntryPage:
    """The page that begins behind the entry with the cursor ``after``."""
    bounds = span(listing.query)
    if listing.descending:
        entries = _descending(logs, job.log, bounds, after)
    else:
        entries = _ascending(logs, job.log, bounds, after)
    found: list[JsonObject] = []
    looked_at, size_bytes = 0, 0
    for entry in entries:
        if (
            len(found) >= listing.limit
            or looked_at >= MAX_LOOKED_AT
            or size_bytes >= MAX_PAGE_BYTES
        ):
            return EntryPage(tuple(found), after)
        if (document := _wanted(entry, job, listing.query)) is not None:
            found.append(document)
            size_bytes += len(entry.line.message) + len(entry.line.payload)
        looked_at, after = looked_at + 1, entry.cursor
    return EntryPage(tuple(found), None)


def _wanted(entry: Entry, job: Job, query: Query) -> JsonObject | None:
    """The entry as it is answered, if it is one of the job's and matches."""
    if not belongs(entry, job):
        return None
    document = encode_entry(entry, job.name)
    return document if matches(query, entry, document) else None


def _ascending(logs: Logs, uid: JobUid, bounds: Span, after: int | None) -> Iterator[Entry]:
    cursor = after
    if cursor is None:
        cursor = logs.seek(uid, bounds.first) if bounds.first is not None else 0
    while (reading := logs.read(uid, cursor, _READ)).entries:
        for entry in reading.entries:
            if bounds.last is not None and entry.timestamp > bounds.last:
                return
            yield entry
        cursor = reading.cursor


def _descending(logs: Logs, uid: JobUid, bounds: Span, after: int | None) -> Iterator[Entry]:
    cursor = after
    if cursor is None and bounds.last is not None:
        cursor = logs.seek(uid, bounds.last + _TICK)
    while (reading := logs.read_back(uid, cursor, _READ)).entries:
        for entry in reading.entries:
            if bounds.first is not None and entry.timestamp < bounds.first:
                return
            if entry.cursor != after:  # reading back begins with the entry before its cursor
                yield entry
        cursor = reading.cursor


class Entries:
    """Only entries of one job at a time, which the filter names."""

    def __init__(
        self, logs: Logs, finder: JobFinder, followers: Followers, complete: Callable[[Job], None]
    ) -> None:
        self._logs = logs
        self._complete = complete
        self._finder = finder
        self._followers = followers

    async def list(self, request: Request) -> Response:
        raw = await read_body(request, MAX_JSON_BYTES)
        require_json(request)
        follower = invocation(request.headers.get("user-agent", ""))
        return JSONResponse(await in_thread(self._list, raw, follower))

    def _list(self, raw: bytes, follower: str | None) -> JsonObject:
        asked = ListEntriesRequest.decode(parse_object(raw), strict=True)
        query = parse_query(asked.filter)
        after = _cursor(asked.page_token, asked.listing)
        descending, limit = asked.descending, asked.limit
        job = self._find(asked.project, query)
        if job is None:
            return {}
        if follower is not None:
            query = without_end(query)
            stream = (follower, job.name.project, job.name.job_id)
            self._followers.asked(stream, ended=job.state.terminal)
        if job.state.terminal:  # its end is stored before it is logged
            self._complete(job)
        page = read_page(self._logs, job, Listing(query, descending, limit), after)
        answer: JsonObject = {}
        if page.entries:
            answer["entries"] = [*page.entries]
        if page.next_cursor is not None:
            answer["nextPageToken"] = format_token(str(page.next_cursor), asked.listing)
        return answer

    def _find(self, project: str, query: Query) -> Job | None:
        """The job whose entries are asked for; None where there is no such job.

        Raises:
            InvalidArgument: the query is not about one job.
        """
        ids = job_ids(query)
        if ids is None or len(ids) > 1:
            needed = 'name one job: AND resource.labels.job_id="JOB"'
            raise InvalidArgument.of((Violation("filter", needed),))
        try:
            return self._finder.find(project, *ids) if ids else None
        except NotFound:
            return None


def _cursor(token: str, listing: str) -> int | None:
    key = parse_token(token, listing)
    if key is None:
        return None
    if not (key.isascii() and key.isdigit() and len(key) < 20):
        raise InvalidArgument.of((Violation("pageToken", "it isn't one that was given"),))
    return int(key)
