"""Pages of a job's lines, from any place and in both directions, with a filter."""

from __future__ import annotations

import json
from collections.abc import Callable
from time import monotonic

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.jobs import Job
from footplate.domain.log_lines import Entry, Screen, belongs
from footplate.domain.names import JobName, parse_job_name
from footplate.domain.service_log_lines import SERVICE
from footplate.ports.logs import Logs
from footplate.wire.json_text import JsonObject, describe
from footplate.wire.log_lines import encode_lines
from footplate.wire.log_severity import SEVERITIES

DEFAULT_LINES = 200
MOST_LINES = 5000
_MOST_ATTEMPTS = 1_000_000
_MOST_TIME_S = 0.5
"""So long a request looks for lines that are wanted; then the answer says how far it came."""
_CHUNK = 1000
MOST_BYTES = 4 << 20
"""Of lines in an answer, beside those of the last read. A line costs more than its text."""
_LINE_BYTES = 200


def log_page_routes(logs: Logs, get_job: Callable[[JobName], Job]) -> list[Route]:
    """Returns the route of a log's pages. ``get_job`` raises NotFound."""
    pages = _LogPages(logs, get_job)
    return [json_route("/footplate/v1/{name:path}/lines", {"GET": pages.get})]


class _LogPages:
    def __init__(self, logs: Logs, get_job: Callable[[JobName], Job]) -> None:
        self._logs = logs
        self._get_job = get_job

    def get(self, call: Call) -> JsonObject:
        """Returns a page of lines:
        ``?cursor=|at=&back=&limit=&replica=&attempt=&severity=&contains=``.

        The page has the lines after ``cursor`` or, with ``back=true``, those before it (without a
        cursor: before the end), in their order. ``at`` is any number up to ``size``; the page
        begins at the nearest cursor. In the answer, ``start`` is where reading began, ``cursor``
        continues in the same direction, and ``more`` is false at the end. A page may have fewer
        lines than ``limit``, or none, without being the last, because each request takes only a
        short time.
        """
        job = self._get_job(parse_job_name(call.path["name"]))
        screen = Screen(
            call.parameter("replica") or "",
            _number(call, "attempt", _MOST_ATTEMPTS),
            _severities(call.parameter("severity")),
            (call.parameter("contains") or "").casefold(),
        )
        limit = _number(call, "limit", MOST_LINES) or DEFAULT_LINES
        back = call.parameter("back") == "true"
        size = self._logs.size(job.log)
        cursor = self._cursor(call, job, size if back else 0)
        start = cursor
        found: list[Entry] = []
        deadline, more, left = monotonic() + _MOST_TIME_S, True, MOST_BYTES
        read = self._logs.read_back if back else self._logs.read
        while more and len(found) < limit:
            reading = read(job.log, cursor, min(_CHUNK, limit - len(found)), screen)
            more, cursor = reading.cursor != cursor, reading.cursor
            own = [e for e in reading.entries if belongs(e, job) and e.replica != SERVICE]
            found += own
            left -= sum(_LINE_BYTES + len(e.line.message) + len(e.line.payload) for e in own)
            if left <= 0 or monotonic() > deadline:
                break
        if back:
            found.reverse()
        text = encode_lines(tuple(found)).decode()
        return {
            "lines": [json.loads(line) for line in text.splitlines()],
            "start": start,
            "cursor": cursor,
            "size": size,
            "more": more and (cursor > 0 if back else cursor < size),
        }

    def _cursor(self, call: Call, job: Job, default: int) -> int:
        if call.parameter("at"):
            return self._logs.align(job.log, _number(call, "at", 1 << 62))
        if call.parameter("cursor"):
            return _number(call, "cursor", 1 << 62)
        return default


def _severities(least: str | None) -> frozenset[str]:
    """Returns the severity ``least`` and all graver ones; empty for all."""
    if not least:
        return frozenset()
    if least not in SEVERITIES:
        raise _wrong("severity", least, ", ".join(SEVERITIES))
    place = SEVERITIES.index(least)
    return frozenset(SEVERITIES[place:]) if place else frozenset()


def _number(call: Call, name: str, most: int) -> int:
    text = call.parameter(name) or "0"
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 19 else -1
    if not 0 <= number <= most:
        raise _wrong(name, text, f"an integer from 0 to {most}")
    return number


def _wrong(field: str, given: str, allowed: str) -> InvalidArgument:
    return InvalidArgument.of((Violation(field, f"{describe(given)} given; allowed: {allowed}"),))
