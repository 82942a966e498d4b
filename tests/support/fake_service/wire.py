"""The fake service on its socket."""

from __future__ import annotations

import json
from http.server import BaseHTTPRequestHandler
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from tests.support.fake_service.messages import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.support.fake_service.service import FakeService


class Handler(BaseHTTPRequestHandler):
    service: FakeService
    protocol_version = "HTTP/1.1"

    def _respond(self) -> None:
        split = urlsplit(self.path)
        request = Request(
            method=self.command,
            path=unquote(split.path),
            query={name: values[-1] for name, values in parse_qs(split.query).items()},
            headers={name.lower(): value for name, value in self.headers.items()},
            body=self._body(),
        )
        answer = self.service.answer(request)
        if answer.stream is None:
            body = answer.body
            raw = body if isinstance(body, bytes) else json.dumps(body).encode()
            self._send(answer.status, raw)
        else:
            self._stream(iter(answer.stream))

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("content-length") or 0))
        found = b""
        while size := int(self.rfile.readline(), 16):
            found += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return found

    def _send(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, lines: Iterator[dict[str, object]]) -> None:
        self.send_response(200)
        self.send_header("content-type", "application/x-ndjson")
        self.send_header("transfer-encoding", "chunked")
        self.end_headers()
        for line in lines:
            chunk = json.dumps(line).encode() + b"\n"
            self.wfile.write(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        self.wfile.write(b"0\r\n\r\n")

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _respond  # noqa: N815 - the server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the server's name
        """Tests read ``requests`` instead."""
