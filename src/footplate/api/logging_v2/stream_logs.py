"""Keeps gcloud's stream-logs reading until it has printed the last lines of a job.

It asks for entries again and again, always leaving out those of the last five seconds, since
Cloud Logging gives no order of arrival; and it stops when two askings in a row brought nothing
and the job has an ``endTime``. So lines of a job's last seconds, after a silence, are never
printed. (The source: ``command_lib/logs/stream.py`` of the SDK.)

Here entries do come in the order of their timestamps. So for such a client, known by what gcloud
says of itself in ``User-Agent``, the five seconds are not left out, and ``endTime`` stays hidden
from it, and only from it, until it has asked for entries after the end. Nobody waits for that.
"""

from __future__ import annotations

import json
import re
import threading
from collections import OrderedDict
from http import HTTPStatus

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_COMMAND = re.compile(r"\bcommand/gcloud\.\S{0,100}(?:stream-logs|submit\.training)\b")
_INVOCATION = re.compile(r"\binvocation-id/(\w{1,64})\b")
_TRAINING_JOB = re.compile(r"/v1/projects/([^/]+)/jobs/([^/:]+)")
_REMEMBERED = 10_000

Stream = tuple[str, str, str]
"""One gcloud that follows one job: its invocation, the project, the job's id."""


def invocation(user_agent: str) -> str | None:
    """Returns the id of a gcloud command that follows a log; None for other clients."""
    if _COMMAND.search(user_agent) and (match := _INVOCATION.search(user_agent)):
        return match.group(1)
    return None


class Followers:
    """The clients that follow logs; records which have read entries since their job ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._ended: OrderedDict[Stream, bool] = OrderedDict()

    def asked(self, stream: Stream, *, ended: bool) -> None:
        """Records a request for entries. ``ended``: the job had ended before they were read."""
        with self._lock:
            self._ended[stream] = ended
            self._ended.move_to_end(stream)
            if len(self._ended) > _REMEMBERED:
                self._ended.popitem(last=False)

    def may_see_end(self, stream: Stream) -> bool:
        """Returns whether a client may see the job's end. One that never read entries may."""
        with self._lock:
            return self._ended.get(stream, True)


class EndOfStream:
    """Middleware that removes ``endTime`` from answers to clients that may not see it yet."""

    def __init__(self, app: ASGIApp, followers: Followers) -> None:
        self._app = app
        self._followers = followers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        stream = _stream(scope)
        if stream is None or self._followers.may_see_end(stream):
            await self._app(scope, receive, send)
        else:
            await self._app(scope, receive, _Cut(send))


class _Cut:
    """Buffers a whole answer, and sends it without ``endTime``."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._start: Message = {}
        self._body = b""

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start = message
            return
        self._body += message.get("body", b"")
        if not message.get("more_body", False):
            if self._start["status"] == HTTPStatus.OK:
                self._body = _without_end(self._body)
                headers = MutableHeaders(raw=self._start["headers"])
                headers["Content-Length"] = str(len(self._body))
            await self._send(self._start)
            await self._send({"type": "http.response.body", "body": self._body})


def _stream(scope: Scope) -> Stream | None:
    if scope["type"] != "http" or scope["method"] != "GET":
        return None
    match = _TRAINING_JOB.fullmatch(scope["path"])
    if match is None:
        return None
    name = invocation(Headers(scope=scope).get("user-agent", ""))
    return None if name is None else (name, str(match.group(1)), str(match.group(2)))


def _without_end(body: bytes) -> bytes:
    job = json.loads(body)
    job.pop("endTime", None)
    return json.dumps(job, ensure_ascii=False).encode()
