"""Writes calls that have changed something into the audit log, before they are answered."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http import HTTPStatus

from starlette.datastructures import Headers
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from footplate.api.client_names import name_client
from footplate.api.worker_threads import in_thread
from footplate.ports.audit import AuditEntry, AuditLog
from footplate.wire.scope_keys import BY_CONSOLE, PROGRAM

_KINDS = (
    *("jobs", "customJobs", "hyperparameterTuningJobs", "trainingPipelines"),
    *("datasets", "models", "persistentResources", "studies", "tensorboards"),
)
_VERBS = ("cancel", "upload", "import", "export", "deleteVersion", "mergeVersionAliases", "reboot")
_METHODS = {"POST": "create", "PATCH": "update", "DELETE": "delete"}
_PROJECT = r"/(?:v1|v1beta1|ui|footplate/v1)(/projects/\{\w+\}(?:/locations/\{\w+\})?"
_CHANGES = re.compile(
    rf"{_PROJECT}/(?:(?:{'|'.join(_KINDS)})(?:/\{{\w+\}})?|quota))(?::({'|'.join(_VERBS)}))?"
)
"""Paths of routes. What programs write all the time (points, metadata, trials) isn't among them."""
_OTHERS = {
    "/footplate/v1/down": ("down", ""),
    "/storage/v1/b": ("create", "buckets"),
    "/storage/v1/b/{bucket}": ("delete", "buckets"),
}
_MOST_ANSWER = 1 << 20


@dataclass(frozen=True)
class Change:
    """A change that a call makes. ``made``: the call creates a resource, named in the answer."""

    action: str
    resource: str
    made: bool = False


class Audit:
    """Middleware next to the routes that records changes. ``token``: callers must send a token."""

    def __init__(
        self,
        app: ASGIApp,
        log: AuditLog,
        routes: Sequence[BaseRoute],
        *,
        token: bool,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._app = app
        self._log = log
        self._token = token
        self._now = now
        self._paths = {
            getattr(route, "endpoint", None): str(getattr(route, "path", "")) for route in routes
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] not in _METHODS:
            await self._app(scope, receive, send)
            return
        change: Change | None = None

        async def watch(message: Message) -> None:
            nonlocal change
            if message["type"] == "http.response.start":
                if message["status"] < HTTPStatus.BAD_REQUEST:
                    path = self._paths.get(scope.get("endpoint"), "")
                    change = read_change(scope["method"], path, scope["path"])
            elif change is not None:
                entry = self._entry(scope, change, message.get("body", b""))
                change = None
                await in_thread(self._log.add, entry)
            await send(message)

        await self._app(scope, receive, watch)

    def _entry(self, scope: Scope, change: Change, answer: bytes) -> AuditEntry:
        job = str(scope.get(PROGRAM, ""))
        by = "console" if scope.get(BY_CONSOLE) else "program" if job else ""
        client = scope.get("client")
        return AuditEntry(
            time=self._now(),
            action=change.action,
            resource=name_made(change.resource, answer) if change.made else change.resource,
            by=by or ("token" if self._token else "anyone"),
            job=job,
            client=name_client(Headers(scope=scope)),
            address=str(client[0]) if client else "",
        )


def read_change(method: str, route: str, path: str) -> Change | None:
    """Returns the change that a call makes; None if it makes none that is recorded."""
    if route in _OTHERS:
        action, kind = _OTHERS[route]
        if action not in ("down", _METHODS.get(method)):
            return None
        name = path.rpartition("/b/")[2] if "{" in route else ""
        return Change(action, "/".join(filter(None, (kind, name))), made=action == "create")
    found = _CHANGES.fullmatch(route)
    if found is None:
        return None
    resource = path[path.index("/projects/") + 1 :]
    if found[2]:
        return Change(found[2], resource.removesuffix(f":{found[2]}"), made=found[2] == "upload")
    return Change(_METHODS[method], resource, made=method == "POST")


def name_made(collection: str, answer: bytes) -> str:
    """Returns the name of the created resource; the collection if the answer has no name."""
    with suppress(ValueError, RecursionError):
        body = json.loads(answer[:_MOST_ANSWER])
        if isinstance(body, dict):
            return _name_in(collection, body)
    return collection


def _name_in(collection: str, body: Mapping[str, object]) -> str:
    """Returns the name in an answer; of an operation, the resource that contains it."""
    name = str(body.get("name") or body.get("jobId") or "")
    if name.startswith("projects/"):
        return name.partition("/operations/")[0]
    return f"{collection}/{name}" if name else collection
