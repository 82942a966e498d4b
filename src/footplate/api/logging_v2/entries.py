"""``entries.list`` of Cloud Logging, for job logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.responses import JSONResponse

from footplate.api.logging_v2.entry_pages import Listing, read_page
from footplate.api.logging_v2.stream_logs import invocation
from footplate.api.request_bodies import MAX_JSON_BYTES, read_body, require_json
from footplate.api.worker_threads import in_thread
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.wire.json_text import parse_object
from footplate.wire.logging_v2.queries import parse_query
from footplate.wire.logging_v2.requests import ListEntriesRequest
from footplate.wire.logging_v2.scope import job_ids, without_end
from footplate.wire.paging import format_token, parse_token

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.responses import Response

    from footplate.api.logging_v2.job_lookup import JobFinder
    from footplate.api.logging_v2.stream_logs import Followers
    from footplate.domain.jobs import Job
    from footplate.ports.logs import Logs
    from footplate.wire.json_text import JsonObject
    from footplate.wire.logging_v2.queries import Query


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
