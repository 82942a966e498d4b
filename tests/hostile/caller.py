"""Requests as bytes on the wire would be, answered in process by an app that is never trusted."""

from __future__ import annotations

import asyncio
import threading
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from tests.support.deadlines import EVENT_S

if TYPE_CHECKING:
    from types import TracebackType

    from starlette.types import ASGIApp, Message, Scope

LEAVE_S = 0.5
"""After so long a client whose request is whole goes away: standing questions and followed
lines have no other end."""
_CHUNK_BYTES = 1 << 16

Headers = tuple[tuple[bytes, bytes], ...]


@dataclass(frozen=True, repr=False)
class Call:
    """One request; ``target`` is the path as it is sent, and ``query`` what follows its ``?``."""

    method: str
    target: str
    query: str = ""
    headers: Headers = ()
    body: bytes = b""
    breaks_off: bool = False
    """Whether the client goes away in the middle of its body."""

    def __repr__(self) -> str:
        """As much as can be read."""
        headers = [f"{k.decode()}: {v[:200]!r}" for k, v in self.headers]
        body = f"{len(self.body)} bytes {self.body[:2000]!r}"
        gone = " and goes away" if self.breaks_off else ""
        return f"<{self.method} {self.target[:300]}?{self.query[:300]} {headers} {body}{gone}>"

    def with_header(self, name: str, value: str | bytes) -> Call:
        """In place of one of that name."""
        raw = value if isinstance(value, bytes) else value.encode("latin-1")
        key = name.lower().encode()
        kept = tuple(pair for pair in self.headers if pair[0] != key)
        return replace(self, headers=(*kept, (key, raw)))


@dataclass(repr=False)
class Answer:
    """``status`` 0: the client had gone before there was one."""

    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    body: bytes = b""
    whole: bool = False
    error: BaseException | None = None

    def __repr__(self) -> str:
        return f"<{self.status} {self.headers} {len(self.body)} bytes {self.body[:1000]!r}>"

    def header(self, name: str) -> str:
        key = name.lower().encode()
        return next((value.decode("latin-1") for k, value in self.headers if k == key), "")


class Caller:
    """Runs the app on a loop of its own, and calls it from any thread, one request at a time."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="caller", daemon=True)

    def __enter__(self) -> Caller:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def call(self, call: Call) -> Answer:
        """Raises TimeoutError: it hangs."""
        work = asyncio.wait_for(_exchange(self._app, call), EVENT_S)
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


async def _exchange(app: ASGIApp, call: Call) -> Answer:
    answer = Answer()
    pieces = [call.body[i : i + _CHUNK_BYTES] for i in range(0, len(call.body), _CHUNK_BYTES)]
    pieces = pieces or [b""]
    sent = 0

    async def receive() -> Message:
        nonlocal sent
        if sent < len(pieces) and not (call.breaks_off and sent):
            sent += 1
            more = sent < len(pieces) or call.breaks_off
            return {"type": "http.request", "body": pieces[sent - 1], "more_body": more}
        if not call.breaks_off:
            await asyncio.sleep(LEAVE_S)
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            answer.status, answer.headers = message["status"], list(message["headers"])
        else:
            answer.body += message.get("body", b"")
            answer.whole = not message.get("more_body", False)

    try:
        await app(_scope(call), receive, send)
    except Exception as error:  # a server would cut the connection, and log it
        answer.error = error
    return answer


def _scope(call: Call) -> Scope:
    headers = call.headers
    if not any(name == b"host" for name, _ in headers):
        headers = ((b"host", b"127.0.0.1:8470"), *headers)
    made: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "scheme": "http",
        "server": ("127.0.0.1", 8470),
        "client": ("127.0.0.1", 4711),
        "root_path": "",
        "method": call.method,
        "path": unquote(call.target),  # as uvicorn does
        "raw_path": call.target.encode("ascii"),
        "query_string": call.query.encode("ascii"),
        "headers": list(headers),
    }
    return made
