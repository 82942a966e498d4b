"""The URLs of job logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from footplate.api.logging_v2.entries import Entries
from footplate.api.logging_v2.job_lookup import JobFinder
from footplate.api.logging_v2.line_stream import LineStream

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate.api.logging_v2.stream_logs import Followers
    from footplate.domain.jobs import Job
    from footplate.domain.names import JobName
    from footplate.ports.logs import Logs


def logging_routes(
    logs: Logs,
    get_job: Callable[[JobName], Job],
    locations: Sequence[str],
    followers: Followers,
    complete: Callable[[Job], None] = lambda _: None,
) -> list[Route]:
    """``get_job`` raises NotFound; ``locations`` are those that a custom job may be in.

    ``followers`` are shared with the middleware EndOfStream. ``complete`` adds what the service
    itself has to say to the log of a job that has ended.
    """
    entries = Entries(logs, JobFinder(get_job, locations), followers, complete)
    stream = LineStream(logs, get_job)
    return [
        Route("/v2/entries:list", entries.list, methods=["POST"]),
        Route("/footplate/v1/{name:path}/logs", stream.read, methods=["GET"]),
    ]
