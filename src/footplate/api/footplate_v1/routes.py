"""Routes of Footplate's own API: server status, shutdown, and the events of a job."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from footplate.api.footplate_v1.regions import region_json
from footplate.api.json_route import Call, json_route
from footplate.control.region_reports import RegionReport
from footplate.control.status import Status
from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.names import parse_job_name
from footplate.ports.store import Store, StoredEvent
from footplate.wire.footplate_v1 import status as wire
from footplate.wire.footplate_v1.events import Event
from footplate.wire.footplate_v1.status import Server
from footplate.wire.json_text import JsonObject
from footplate.wire.restart_counts import MOST_NAMES
from footplate.wire.timestamps import format_time

_MANY_DIGITS = 19
"""More than a database's 64 bits are sure to hold."""


@dataclass(frozen=True)
class About:
    """Facts about the server that don't change while it runs."""

    version: str
    url: str
    pid: int
    data_dir: str


def footplate_routes(
    status: Status,
    store: Store,
    about: About,
    end: Callable[[], None],
    servers: Callable[[], Sequence[Server]] = tuple,
    trouble: Callable[[], str] = str,
    engines: Callable[[], Sequence[RegionReport]] = tuple,
) -> list[Route]:
    """Returns the routes; ``end`` stops the server as soon as no job is active any more.

    ``end`` stops the server as soon as no job is active. ``trouble`` returns what is wrong with the
    server's machine, or ''. ``engines`` returns the reports of regions.
    """
    api = _FootplateApi(status, store, about, end, servers, trouble, engines)
    return [
        json_route("/footplate/v1/status", {"GET": api.status}),
        json_route("/footplate/v1/down", {"POST": api.down}),
        json_route("/footplate/v1/restarts", {"POST": api.restarts}),
        Route("/footplate/v1/{name:path}/events", api.events, methods=["GET"]),
    ]


@dataclass(frozen=True)
class _FootplateApi:
    _status: Status
    _store: Store
    _about: About
    _end: Callable[[], None]
    _servers: Callable[[], Sequence[Server]]
    _trouble: Callable[[], str]
    _engines: Callable[[], Sequence[RegionReport]]

    def status(self, _call: Call) -> JsonObject:
        about = self._about
        return wire.Status(
            version=about.version,
            url=about.url,
            pid=about.pid,
            data_dir=about.data_dir,
            active_jobs={s.value: count for s, count in self._status.active().items()},
            active_trials={s.value: count for s, count in self._status.trials().items()},
            servers=tuple(self._servers()),
            trouble=self._trouble(),
            regions=tuple(map(region_json, self._engines())),
        ).encode()

    def down(self, _call: Call) -> JsonObject:
        """Cancels every active job, and stops when the last one has ended."""
        cancelled = self._status.cancel_all()
        others = tuple(s.url for s in self._servers() if s.url != self._about.url)
        self._end()
        return wire.Ending(cancelled, others).encode()

    def restarts(self, call: Call) -> JsonObject:
        """Returns how often each job of ``names`` was restarted, without zeros and unknown jobs."""
        found: JsonObject = {}
        for name in _names(call.body()):
            with suppress(NotFound):
                if again := self._store.get(parse_job_name(name)).restarts:
                    found[name] = again
        return {"restarts": found}

    def events(self, request: Request) -> Response:
        job = self._store.get(parse_job_name(request.path_params["name"]))
        text = request.query_params.get("after", "0")
        after = int(text) if text.isascii() and text.isdigit() and len(text) < _MANY_DIGITS else 0
        lines = (json.dumps(_document(e)) + "\n" for e in self._store.events(job.uid, after))
        return Response("".join(lines), media_type="application/x-ndjson")


def _names(body: JsonObject) -> list[str]:
    given = body.get("names")
    names = [name for name in given if isinstance(name, str)] if isinstance(given, list) else []
    if not isinstance(given, list) or len(names) < len(given) or len(names) > MOST_NAMES:
        rule = f"allowed: a list of at most {MOST_NAMES} names of jobs"
        raise InvalidArgument.of((Violation("names", rule),))
    return names


def _document(stored: StoredEvent) -> JsonObject:
    event = stored.event
    return Event(
        number=stored.number,
        time=format_time(event.time),
        kind=event.kind,
        message=event.message,
        attempt=event.attempt,
        replica=event.replica,
    ).encode()
