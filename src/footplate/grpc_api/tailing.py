"""Follows log entries for ``TailLogEntries``: asks for those of one stretch of time after another.

A stretch ends some seconds before now, as in Cloud Logging, so that entries of several jobs come
in the order of their times.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from footplate.domain.errors import OutOfRange, ResourceExhausted
from footplate.grpc_api.transcoding import HttpRequest
from footplate.wire.json_text import parse_object
from footplate.wire.timestamps import format_time

Ask = Callable[[HttpRequest], Awaitable[bytes]]

TAIL_LOG_ENTRIES = "/google.logging.v2.LoggingServiceV2/TailLogEntries"
MAX_TAILS = 100
"""Sessions of one server at once."""
MAX_SESSION = timedelta(hours=1)
"""The limit of a session, which is Cloud Logging's."""
INTERVAL_S = 1.0
_BUFFER_S = 2.0
_MAX_BUFFER_S = 60.0
_PAGE_SIZE = 1000


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass
class Tails:
    """The number of open sessions."""

    count: int = 0


async def tail_entries(
    asked: dict[str, Any], ask: Ask, tails: Tails, now: Callable[[], datetime] = _now
) -> AsyncIterator[bytes]:
    """Yields the entries that arrive from now on, as answers in JSON.

    ``asked`` is the session's first request; later ones are ignored. ``ask`` sends a request and
    returns the answer; its errors end the session.

    Raises:
        ResourceExhausted: there are too many sessions.
        OutOfRange: the session has reached its longest time.
    """
    if tails.count >= MAX_TAILS:
        raise ResourceExhausted(
            f"the server already has {MAX_TAILS} sessions that follow "
            "log entries, and allows no more; try again later"
        )
    tails.count += 1
    try:
        buffer = timedelta(seconds=_read_buffer_s(asked.get("bufferWindow")))
        begun = since = now()
        while now() - begun < MAX_SESSION:
            until = now() - buffer
            if until > since:
                async for answer in _read(asked, ask, since, until):
                    yield answer
                since = until
            await asyncio.sleep(INTERVAL_S)
    finally:
        tails.count -= 1
    raise OutOfRange("a session follows log entries for at most an hour; start a new session")


async def _read(
    asked: dict[str, Any], ask: Ask, since: datetime, until: datetime
) -> AsyncIterator[bytes]:
    """Yields all entries after ``since`` up to ``until``, page by page."""
    times = f'timestamp>"{format_time(since)}" AND timestamp<="{format_time(until)}"'
    given = str(asked.get("filter", "")).strip()
    body: dict[str, Any] = {
        "resourceNames": asked.get("resourceNames", []),
        "filter": f"{times} AND ({given})" if given else times,
        "pageSize": _PAGE_SIZE,
    }
    while True:
        content = json.dumps(body).encode()
        page = parse_object(await ask(HttpRequest("POST", "/v2/entries:list", b"", content)))
        if entries := page.get("entries"):
            yield json.dumps({"entries": entries}).encode()
        token = page.get("nextPageToken")
        if not token:
            return
        body["pageToken"] = token


def _read_buffer_s(given: object) -> float:
    """Returns the seconds of a protobuf duration such as ``1.5s``, within limits; the default if
    there is none.
    """
    if not isinstance(given, str):
        return _BUFFER_S
    return min(max(float(given.removesuffix("s")), 0.0), _MAX_BUFFER_S)
