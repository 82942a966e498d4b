"""``entries.list`` and ``logs.list`` of Cloud Logging, for the logs of jobs."""

from __future__ import annotations

from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import JSONResponse

from footplate.api.accepted_parameters import Parameters
from footplate.api.logging_v2.merging import Position, merge_logs
from footplate.api.logging_v2.stream_logs import invocation
from footplate.api.request_bodies import MAX_JSON_BYTES, read_body, require_json
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.log_lines import belongs
from footplate.domain.names import check_project
from footplate.wire.json_text import parse_object
from footplate.wire.logging_v2.entries import encode_entry
from footplate.wire.logging_v2.matching import matches
from footplate.wire.logging_v2.queries import parse_query
from footplate.wire.logging_v2.requests import ListEntriesRequest
from footplate.wire.logging_v2.scope import Span, job_ids, span, without_end
from footplate.wire.paging import PageRule, list_json, parse_token

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response

    from footplate.api.json_route import Call
    from footplate.api.logging_v2.job_lookup import JobFinder
    from footplate.api.logging_v2.stream_logs import Followers
    from footplate.domain.jobs import Job
    from footplate.ports.logs import Logs
    from footplate.wire.json_text import JsonObject
    from footplate.wire.logging_v2.queries import Query


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


class Entries:
    """Handlers that list entries of the jobs that a filter names, or of all jobs of some projects.

    ``find_jobs`` returns at most a given number of a project's jobs that ran in a time span, the
    newest first.
    """

    def __init__(
        self,
        logs: Logs,
        finder: JobFinder,
        find_jobs: Callable[[str, Span, int], Sequence[Job]],
        followers: Followers,
        complete: Callable[[Job], None],
    ) -> None:
        self._logs = logs
        self._complete = complete
        self._finder = finder
        self._find_jobs = find_jobs
        self._followers = followers

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
            self._followers.asked(stream, ended=job.state.terminal)
        page = read_page(self._logs, jobs, listing, after)
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
                    job = self._finder.find(project, job_id)
                except NotFound:
                    continue
                if job.state.terminal:  # its end is stored before it is logged
                    self._complete(job)
                found.append(job)
        return found

    def _find_all(self, projects: Sequence[str], times: Span) -> list[Job]:
        found: list[Job] = []
        for project in projects:
            found += self._find_jobs(project, times, MAX_JOBS + 1)
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
            for job in self._find_jobs(project, Span(), MAX_JOBS)
            for name in self._logs.names(job.log)
        }
        names = sorted(f"projects/{project}/logs/{quote(name, safe='')}" for name in ids)
        size = LOG_NAMES.size(call.parameter("pageSize", "page_size"))
        listing = f"logs of {project}"
        after = parse_token(call.parameter("pageToken", "page_token"), listing)
        rest = [name for name in names if after is None or name > after]
        return list_json("logNames", rest[:size], rest[size - 1] if rest[size:] else None, listing)
