"""A replica API on loopback that does what a script says: for tests of supervisors."""

from __future__ import annotations

import json
import os
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from footplate.domain.log_lines import RESTART_SPAN
from tests.support.deadlines import EVENT_S

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

TOKEN = "attempt-1.master-replica-0.0123456789abcdef"  # no secret
Record = dict[str, Any]
CONTROL_REQUESTS_PATH = "/replica/v1/control-requests"
_HOLD_S = 25.0


@dataclass(frozen=True)
class Reply:
    """What the server sends instead of doing its work.

    ``heard``: it does its work before, so that the supervisor sends the same again.
    """

    status: int = 200
    body: bytes = b"{}"
    raw: bytes | None = None
    """These bytes, then the end of the connection."""
    heard: bool = False


@dataclass
class ReplicaApi:
    """Keeps records as the real server does: each number once, in order, for ever.

    It listens between ``start`` and ``stop``, each time on another port, which it writes into
    ``server_file``, with ``pid`` as its own. ``script`` is asked for each request in turn (its
    number, from 0): None means an honest answer. What doesn't follow the protocol is in
    ``faults``.
    """

    server_file: Path
    task: dict[str, Any]
    token: str = TOKEN
    script: Callable[[int], Reply | None] = lambda _: None
    pid: int = field(default_factory=os.getpid)
    records: list[Record] = field(default_factory=list)
    duplicates: int = 0
    heartbeats: int = 0
    reports: list[list[str]] = field(default_factory=list)
    """The kinds of the records that came together."""
    requests: int = 0
    stop_wanted: bool = False
    awaited: list[str] = field(default_factory=list)
    """Who of the gang isn't ready; when it is empty, the replica may start."""
    environment: list[list[str]] = field(default_factory=list)
    """The program's, told when it may start."""
    questions: int = 0
    """How often it was asked whether to start."""
    control_requests: list[dict[str, str]] = field(default_factory=list)
    """What it wants of the replica while its program runs, with ``id`` and ``kind``."""
    answers: dict[str, Any] = field(default_factory=dict)
    """What was answered to control requests, by their ids."""
    refuses_control_requests: bool = False
    """As servers do that know of none."""
    control_request_questions: int = 0
    faults: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._changed = threading.Condition(threading.RLock())
        self._server: _Server | None = None

    def start(self) -> None:
        self._server = _Server(self)
        part = self.server_file.with_suffix(".part")
        url = f"http://127.0.0.1:{self._server.server_address[1]}"
        part.write_text(json.dumps({"url": url, "pid": self.pid}))
        part.replace(self.server_file)

    def stop(self) -> None:
        """As a kill does: connections end in the middle of whatever they carry."""
        if self._server is not None:
            self._server.end()
            self._server = None

    @property
    def stopped(self) -> bool:
        return self._server is None

    def wait_for(self, condition: Callable[[], bool], timeout_s: float = EVENT_S) -> None:
        """Until ``condition`` holds, looked at after each request. Raises AssertionError."""
        with self._changed:
            assert self._changed.wait_for(condition, timeout_s), self.describe()

    def describe(self) -> str:
        with self._changed:
            rest = [record for record in self.records if record["k"] != "line"]
            return f"{len(self.records)} records, of them no lines: {rest}, faults: {self.faults}"

    def lines(self, stream: str = "stdout") -> list[str]:
        with self._changed:
            return [r["m"] for r in self.records if r["k"] == "line" and r["stream"] == stream]

    def events(self, kind: str) -> list[str]:
        with self._changed:
            return [r["m"] for r in self.records if r["k"] == "event" and r["kind"] == kind]

    def phases(self) -> list[str]:
        with self._changed:
            return [r["phase"] for r in self.records if r["k"] == "state"]

    @property
    def ready(self) -> Record | None:
        """The record in which it says where it will be."""
        with self._changed:
            return next((r for r in self.records if r.get("phase") == "READY"), None)

    @property
    def exit(self) -> Record | None:
        """The exit record, which must be the last one."""
        with self._changed:
            last = self.records[-1] if self.records else None
            return last if last is not None and last["k"] == "exit" else None

    def answer(self, method: str, path: str, authorization: str, body: bytes) -> Reply:
        """What the server says to a request."""
        if path.startswith(CONTROL_REQUESTS_PATH):
            return self._serve_control_requests(path, authorization, body)
        with self._changed:
            reply = self.script(self.requests)
            self.requests += 1
            if reply is None or reply.heard:
                honest = self._serve(method, path, authorization, body)
            self._changed.notify_all()
            return reply or honest

    def _serve(self, method: str, path: str, authorization: str, body: bytes) -> Reply:
        if authorization != f"Bearer {self.token}":
            self.faults.append(f"authorization {authorization!r}")
            return Reply(403)
        path = path.partition("?")[0]
        if (method, path) == ("GET", "/replica/v1/task"):
            return Reply(body=json.dumps(self.task).encode())
        if (method, path) == ("POST", "/replica/v1/reports"):
            self._keep(json.loads(body)["records"])
            value = {"acknowledged": self._last, "stop": self.stop_wanted}
            return Reply(body=json.dumps(value).encode())
        if (method, path) == ("GET", "/replica/v1/start"):
            return Reply(body=json.dumps(self._answer_question()).encode())
        self.faults.append(f"{method} {path}")
        return Reply(404)

    def control_request(self, *control_requests: dict[str, str]) -> None:
        """Let the replica hear of ``control_requests``."""
        with self._changed:
            self.control_requests += control_requests
            self._changed.notify_all()

    def _serve_control_requests(self, path: str, authorization: str, body: bytes) -> Reply:
        with self._changed:
            self._changed.notify_all()
            if authorization != f"Bearer {self.token}" or self.refuses_control_requests:
                self.control_request_questions += 1
                return Reply(403 if not self.refuses_control_requests else 404)
            if body:
                self.answers[path.rpartition("/")[2]] = json.loads(body)
                return Reply()
            self.control_request_questions += 1
            known = int(path.partition("?after=")[2].removeprefix("n-") or "0")
            self._changed.wait_for(lambda: len(self.control_requests) > known, _HOLD_S)
            value = {
                "control_requests": self.control_requests[known:],
                "cursor": f"n-{len(self.control_requests)}",
            }
            return Reply(body=json.dumps(value).encode())

    @property
    def _before(self) -> int:
        """Records of earlier starts are numbered up to here."""
        return int(self.task.get("restart", 0)) * RESTART_SPAN

    @property
    def _last(self) -> int:
        return self._before + len(self.records)

    def _answer_question(self) -> dict[str, Any]:
        self.questions += 1
        if self.ready is None or "RUNNING" in self.phases():
            self.faults.append(f"asked whether to start in {self.phases()}")
        return {"awaited": self.awaited} if self.awaited else {"environment": self.environment}

    def _keep(self, records: list[Record]) -> None:
        self.heartbeats += not records
        self.reports.append([record["k"] for record in records])
        for record in records:
            if record["n"] <= self._last:
                self.duplicates += 1
                known = self.records[record["n"] - self._before - 1]
                if known != record:
                    self.faults.append(f"{record} was {known} before")
            elif record["n"] != self._last + 1:
                self.faults.append(f"{record['n']} after {self._last}")
            elif self.exit is not None:
                self.faults.append(f"{record} after the exit")
            else:
                self.records.append(record)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, api: ReplicaApi) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.api = api
        self.connections: set[Any] = set()
        self.ended = False
        self._thread = threading.Thread(target=self.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def end(self) -> None:
        self.ended = True
        self.shutdown()
        self.server_close()
        for connection in list(self.connections):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join()

    def handle_error(self, request: object, client_address: object) -> None:
        """A connection that was cut: that is what these tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    disable_nagle_algorithm = True

    def setup(self) -> None:
        super().setup()
        self.server.connections.add(self.connection)

    def finish(self) -> None:
        self.server.connections.discard(self.connection)
        super().finish()

    def do_GET(self) -> None:
        self._answer(b"")

    def do_POST(self) -> None:
        self._answer(self.rfile.read(int(self.headers["Content-Length"])))

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  the base's name
        """Silent."""

    def _answer(self, body: bytes) -> None:
        if self.server.ended:
            self.close_connection = True
            return
        reply = self.server.api.answer(
            self.command, self.path, self.headers.get("Authorization", ""), body
        )
        if reply.raw is not None:
            self.wfile.write(reply.raw)
            self.close_connection = True
            return
        self.send_response(reply.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)
