"""A container engine that keeps what it is asked, and answers builds and pushes as it is told."""

from __future__ import annotations

import json
import socketserver
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path


@dataclass(frozen=True)
class Asked:
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes


@dataclass
class RecordingEngine:
    """``answers`` are the lines for the POST whose path ends so; others get none."""

    socket: str
    kind: str = "Docker"
    """``Libpod`` for Podman."""
    answers: dict[str, list[dict[str, str]]] = field(default_factory=dict)
    posts: list[Asked] = field(default_factory=list)

    def answer(self, path: str) -> bytes:
        lines = next((v for end, v in self.answers.items() if path.endswith(end)), [])
        return "".join(f"{json.dumps(line)}\n" for line in lines).encode()


@contextmanager
def recording_engine(folder: Path, kind: str = "Docker") -> Iterator[RecordingEngine]:
    """``folder`` has a short path: it gets the socket."""
    engine = RecordingEngine(str(folder / "engine.sock"), kind)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        server_version = f"{kind}/1.0"

        def do_GET(self) -> None:
            self._answer()

        def do_POST(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            split = urlsplit(self.path)
            body, query = self.rfile.read(length), dict(parse_qsl(split.query))
            engine.posts.append(Asked(split.path, query, dict(self.headers), body))
            self._answer()

        def _answer(self) -> None:
            body = engine.answer(urlsplit(self.path).path)
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002
            pass

        def address_string(self) -> str:
            return "unix"

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

    with Server(engine.socket, Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield engine
        finally:
            server.shutdown()
            thread.join()
