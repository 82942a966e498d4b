"""The fake service: what it holds, and which route answers."""

from __future__ import annotations

import re
import threading
from http.server import ThreadingHTTPServer
from typing import TYPE_CHECKING

from tests.support.fake_service import jobs, status, storage
from tests.support.fake_service.messages import Answer, Request, failure
from tests.support.fake_service.wire import Handler

if TYPE_CHECKING:
    import ssl
    from collections.abc import Iterable
    from types import TracebackType

_ROUTES = [*status.ROUTES, *jobs.ROUTES, *storage.ROUTES]


class FakeService:
    """Use it in a ``with`` block; its dictionaries may be changed."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        """``tls``: of a certificate for ``localhost``."""
        self.requests: list[Request] = []
        self.jobs: dict[str, dict[str, object]] = {}
        """Resources by name, both faces'."""
        self.lines: dict[str, Iterable[dict[str, object]]] = {}
        self.events: dict[str, list[dict[str, object]]] = {}
        self.trials: dict[str, list[dict[str, object]]] = {}
        """What is answered of a job's trials, one after the other; the last one stays."""
        self.measurements: dict[tuple[str, int], list[dict[str, object]]] = {}
        self.meddlers: dict[str, list[dict[str, object]]] = {}
        """What others write into a job just before somebody changes it."""
        self.restarts: dict[str, int] = {}
        self.tuning_pipelines: set[str] = set()
        """Those whose job searches; others run one program."""
        """How often each job started again, by name."""
        self.trouble = ""
        self.regions: list[dict[str, object]] = []
        self.active_trials: dict[str, int] = {}
        self.buckets: list[str] = []
        self.targets: dict[str, str] = {}
        """What those buckets are bound to that can only be read."""
        self.objects: dict[tuple[str, str], bytes] = {}
        self.refusals: dict[tuple[str, str], Answer] = {}
        """Answers that come before all others, by method and path."""
        handler = type("Handler", (Handler,), {"service": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.proxy_port: int | None = self._server.server_address[1]
        """It is none; None: the service says that it has no proxy."""
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._tls = tls
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)

    @property
    def url(self) -> str:
        if self._tls is not None:
            return f"https://localhost:{self._server.server_address[1]}"
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> FakeService:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def calls(self) -> list[str]:
        """``METHOD path`` of each request, in order."""
        return [f"{r.method} {r.path}" for r in self.requests]

    def last(self, method: str) -> Request:
        return next(r for r in reversed(self.requests) if r.method == method)

    def answer(self, request: Request) -> Answer:
        self.requests.append(request)
        if refusal := self.refusals.get((request.method, request.path)):
            return refusal
        for method, pattern, respond in _ROUTES:
            match = re.fullmatch(pattern, request.path)
            if match and method == request.method:
                return respond(self, request, *match.groups())
        return failure(404, "NOT_FOUND", f"{request.method} {request.path}: no such method")
